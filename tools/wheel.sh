#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Makes cudagraphkit-*-manylinux_*.whl for every Python: the command, the tracer, the software device, the allocator, and
# the libraries that they need, but for glibc. Builds in build/, or takes what is built there. Says which glibc it wants.
#
#   tools/wheel.sh [--arch aarch64] [FOLDER]     into FOLDER (default: dist)
#
# With --arch aarch64 that machine's wheel is made on x86_64, in build-aarch64/ (docs/building.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/python.sh

arch=x86_64 tree=build
if [ "${1:-}" = --arch ]; then
  arch="${2:-}"
  shift 2 || true
fi
folder="${1:-dist}"
settings=() # of CMake, for the build and for the package
search=()   # of auditwheel
case "$arch" in
  x86_64) tools/setup.sh build wheel ;;
  aarch64)
    tools/setup.sh build wheel aarch64
    GRAPHKIT_SETUP=tools/setup
    . tools/setup/cuda.sh
    . tools/setup/aarch64.sh
    GRAPHKIT_AARCH64_ROOT="$(aarch64_cache)"
    [ -e "$GRAPHKIT_AARCH64_ROOT/sysroot" ] ||
      die "what builds for aarch64 could not be fetched" "see $(graphkit_cache)/setup.log"
    nvcc="$(find_toolkit || true)"
    # The package's build tags it by this.
    export GRAPHKIT_AARCH64_ROOT GRAPHKIT_CUDA_ROOT="$GRAPHKIT_AARCH64_ROOT/cuda" _PYTHON_HOST_PLATFORM=linux-aarch64
    tree=build-aarch64
    settings=("-DCMAKE_TOOLCHAIN_FILE=$PWD/tools/cmake/aarch64.cmake" -DGRAPHKIT_SOFT_DEVICE=OFF ${nvcc:+"-DGRAPHKIT_PTX_NVCC=$nvcc/bin/nvcc"})
    libraries="$GRAPHKIT_AARCH64_ROOT/sysroot/usr/lib/aarch64-linux-gnu"
    search=(--ldpaths "$libraries:$libraries/graphviz:$GRAPHKIT_AARCH64_ROOT/sysroot/lib/aarch64-linux-gnu")
    ;;
  *) die "unknown machine '$arch'" "usage: tools/wheel.sh [--arch aarch64] [FOLDER]" ;;
esac
bin="$(package_python)/bin"
[ -x "$bin/auditwheel" ] || die "what builds the wheel could not be fetched" "see $(graphkit_cache)/setup.log"
[ -e "$tree/CMakeCache.txt" ] ||
  configure "$tree" release -DGRAPHKIT_TESTS=OFF -DGRAPHKIT_BENCHMARKS=OFF "${settings[@]}"
build "$tree" wheel_parts

made="$tree/python"
rm -rf "$made/prefix" "$made/wheel" "$made"/*.whl
mkdir -p "$made"
cmake --install "$tree" --prefix "$PWD/$made/prefix" > "$made/install.log" 2>&1 ||
  die "the build could not be installed into $made/prefix" "see $made/install.log"
say "making the wheel"
CMAKE_BUILD_PARALLEL_LEVEL="$(build_jobs)" "$bin/python" -m pip wheel -q --no-build-isolation --no-deps --no-index \
  --wheel-dir "$made/wheel" ./plugins/python --config-settings="build-dir=$PWD/$made/objects" \
  --config-settings=cmake.define.GRAPHKIT_PYTHON_INSTALLED=ON \
  --config-settings="cmake.define.graphkit_DIR=$PWD/$made/prefix/lib/cmake/graphkit" \
  "${settings[@]/#-D/--config-settings=cmake.define.}"
# CUDA's libraries are the user's, or the software device's, which lie in the wheel under the same names.
PATH="$bin:$PATH" "$bin/auditwheel" repair "${search[@]}" --exclude 'libcu*' --exclude 'libnv*' --exclude 'libnccl*' \
  -w "$made/wheel" "$made"/wheel/*-linux_*.whl > "$made/audit.log" 2>&1 ||
  die "the wheel can't be made to stand by itself" "see $made/audit.log"
mkdir -p "$folder"
for wheel in "$made"/wheel/*manylinux*.whl; do
  cp "$wheel" "$folder/.part" && mv "$folder/.part" "$folder/$(basename "$wheel")"
  printf '%s\n' "$folder/$(basename "$wheel")"
done
