# shellcheck shell=bash
# Finds a CUDA 13 toolkit, or unpacks the pinned wheels of cuda-wheels.txt into the cache, laid out like one.
# tools/cmake/GraphkitCuda.cmake looks in the same places. Sourced by tools/setup.sh.

# cuda_version ROOT: the CUDA_VERSION of its cuda.h (13000 for 13.0), or nothing.
cuda_version() {
  local header
  for header in "$1/include/cuda.h" "$1/targets/x86_64-linux/include/cuda.h"; do
    [ -e "$header" ] && sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$header" && return
  done
}

# usable_toolkit ROOT: compiler, headers of CUDA 13 or later, and CUPTI.
usable_toolkit() {
  local version
  [ -x "$1/bin/nvcc" ] || return 1
  version="$(cuda_version "$1")"
  [ "${version:-0}" -ge 13000 ] || return 1
  [ -e "$1/include/cupti.h" ] || [ -e "$1/extras/CUPTI/include/cupti.h" ] ||
    [ -e "$1/targets/x86_64-linux/include/cupti.h" ]
}

# Where the wheels are unpacked: the name changes with the pins.
cuda_cache() {
  local sum
  sum="$(sha256sum "$GRAPHKIT_SETUP/cuda-wheels.txt")"
  printf '%s/cuda-%s\n' "$(graphkit_cache)" "${sum:0:12}"
}

# find_toolkit: prints the first usable one; nothing and 1 where there is none.
find_toolkit() {
  local root nvcc
  if [ -n "${GRAPHKIT_CUDA_ROOT:-}" ]; then
    usable_toolkit "$GRAPHKIT_CUDA_ROOT" && printf '%s\n' "$GRAPHKIT_CUDA_ROOT"
    return
  fi
  nvcc="$(command -v nvcc || true)"
  [ -n "$nvcc" ] && nvcc="$(dirname "$(dirname "$(readlink -f "$nvcc")")")"
  for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$nvcc" "$(cuda_cache)"; do
    if [ -n "$root" ] && usable_toolkit "$root"; then
      printf '%s\n' "$root"
      return 0
    fi
  done
  return 1
}

# A wheel's files lie under nvidia/cu13, without execute bits and without the names that the linker looks for.
lay_out_toolkit() {
  local root="$1"
  chmod +x "$root"/bin/* "$root"/nvvm/bin/*
  ln -s lib "$root/lib64"
  ln -s libcudart.so.13 "$root/lib/libcudart.so"
  ln -s libcupti.so.13 "$root/lib/libcupti.so"
}

# try_toolkit ROOT: compiles and links a kernel with it.
try_toolkit() {
  local folder="$1.try" ok=0
  mkdir -p "$folder"
  cat > "$folder/try.cu" <<'CU'
#include <cupti.h>
#include <nvtx3/nvToolsExtMem.h>
__global__ void Fill(int* out) { out[threadIdx.x] = 1; }
int main() { Fill<<<1, 32>>>(nullptr); return cudaGetLastError() == cudaSuccess; }
CU
  "$1/bin/nvcc" -cudart shared -arch=sm_80 -o "$folder/try" "$folder/try.cu" >> "$(graphkit_cache)/setup.log" 2>&1 || ok=1
  rm -rf "$folder"
  return $ok
}

# unpack_wheels FOLDER PINS [ARCHITECTURE]: downloads the wheels pinned in PINS, of this folder or by its path, into
# FOLDER/wheels and unpacks them into FOLDER.
unpack_wheels() {
  local wheel pins="$2" architecture="${3:-x86_64}"
  [ "${pins#/}" != "$pins" ] || pins="$GRAPHKIT_SETUP/$pins"
  python3 -m pip download --no-deps --only-binary=:all: --require-hashes --progress-bar off --retries 2 \
    --platform "manylinux2014_$architecture" --platform "manylinux_2_25_$architecture" \
    --dest "$1/wheels" -r "$pins" 2>> "$(graphkit_cache)/setup.log" |
    tee -a "$(graphkit_cache)/setup.log" | sed -un 's/^ *Downloading \([^-]*\)-\([^-]*\).*(/graphkit:   \1 \2 (/p' >&2
  [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
  for wheel in "$1"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$1" || return 1
  done
}

# fetch_toolkit: unpacks into a temporary folder and renames it when it works, so that the cache is whole or absent.
fetch_toolkit() {
  local target temporary
  target="$(cuda_cache)"
  mkdir -p "$(graphkit_cache)"
  exec 9> "$(graphkit_cache)/.lock"
  flock 9
  if usable_toolkit "$target"; then return 0; fi
  temporary="$(mktemp -d "$(graphkit_cache)/.cuda.XXXXXX")"
  say "no CUDA 13 toolkit here: fetching its pieces (7 wheels, 115 MB) into $target"
  if unpack_wheels "$temporary" cuda-wheels.txt && lay_out_toolkit "$temporary/nvidia/cu13" &&
    try_toolkit "$temporary/nvidia/cu13"; then
    rm -rf "$target" && mv -T "$temporary/nvidia/cu13" "$target" && rm -rf "$temporary" && return 0
  fi
  rm -rf "$temporary"
  return 1
}

# want_toolkit: finds or fetches one; without it the build goes on, and this says so in one line.
want_toolkit() {
  if find_toolkit > /dev/null; then return 0; fi
  [ -z "${GRAPHKIT_CUDA_ROOT:-}" ] ||
    die "GRAPHKIT_CUDA_ROOT=$GRAPHKIT_CUDA_ROOT has no CUDA 13 toolkit with CUPTI (bin/nvcc, cuda.h, cupti.h)" \
      "name another, or none to look in the usual places"
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    say "no CUDA 13 toolkit here, and none pinned for $(uname -sm): building without the tracer and the software device (set GRAPHKIT_CUDA_ROOT to a toolkit)"
  elif ! (need_packages cuda && fetch_toolkit); then
    say "no CUDA 13 toolkit here, and none could be fetched: building without the tracer and the software device (see $(graphkit_cache)/setup.log; GRAPHKIT_CUDA_ROOT names a toolkit elsewhere)"
  fi
}
