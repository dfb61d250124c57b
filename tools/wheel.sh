#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Makes graphkit-*-manylinux_*.whl for every Python: the command, the tracer, the software device, the allocator, and the
# libraries that they need, but for glibc. Builds in build/, or takes what is built there. Says which glibc it wants.
#
#   tools/wheel.sh [FOLDER]     into FOLDER (default: dist)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/python.sh

folder="${1:-dist}"
tools/setup.sh build wheel
bin="$(package_python)/bin"
[ -x "$bin/auditwheel" ] || die "what builds the wheel could not be fetched" "see $(graphkit_cache)/setup.log"
[ -e build/CMakeCache.txt ] || configure build release -DGRAPHKIT_TESTS=OFF -DGRAPHKIT_BENCHMARKS=OFF
build build wheel_parts

made=build/python
rm -rf "$made/prefix" "$made/wheel" "$made"/*.whl
mkdir -p "$made"
cmake --install build --prefix "$PWD/$made/prefix" > "$made/install.log" 2>&1 ||
  die "the build could not be installed into $made/prefix" "see $made/install.log"
say "making the wheel"
CMAKE_BUILD_PARALLEL_LEVEL="$(build_jobs)" "$bin/python" -m pip wheel -q --no-build-isolation --no-deps --no-index \
  --wheel-dir "$made/wheel" ./plugins/python "-Cbuild-dir=$PWD/$made/objects" -Ccmake.define.GRAPHKIT_PYTHON_INSTALLED=ON \
  "-Ccmake.define.graphkit_DIR=$PWD/$made/prefix/lib/cmake/graphkit"
# CUDA's libraries are the user's, or the software device's, which lie in the wheel under the same names.
PATH="$bin:$PATH" "$bin/auditwheel" repair --exclude 'libcu*' --exclude 'libnv*' --exclude 'libnccl*' -w "$made/wheel" \
  "$made"/wheel/*-linux_*.whl > "$made/audit.log" 2>&1 || die "the wheel can't be made to stand by itself" "see $made/audit.log"
mkdir -p "$folder"
for wheel in "$made"/wheel/*manylinux*.whl; do
  cp "$wheel" "$folder/.part" && mv "$folder/.part" "$folder/$(basename "$wheel")"
  printf '%s\n' "$folder/$(basename "$wheel")"
done
