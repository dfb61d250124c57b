# shellcheck shell=bash
# CUDA 12 for the tests: a toolkit of version 12.4, put together in the cache from Debian's package of nvcc (unpacked,
# not installed) and NVIDIA's wheels, and the headers of further versions. The build does without either.
# tools/cmake/GraphkitCuda12.cmake looks in the same places. Sourced by tools/setup.sh.

# pinned_folder NAME FILE...: a folder of the cache whose name changes with the pins.
pinned_folder() {
  local name="$1" sum
  shift
  sum="$(cd "$GRAPHKIT_SETUP" && cat "$@" | sha256sum)"
  printf '%s/%s-%s\n' "$(graphkit_cache)" "$name" "${sum:0:12}"
}

cuda12_cache() { pinned_folder cuda12 cuda12-packages.txt cuda12-wheels.txt; }
cuda_headers_cache() { pinned_folder cuda-headers cuda-headers.txt; }

# usable_toolkit12 ROOT: compiler, headers of CUDA 12.4 or later, and CUPTI.
usable_toolkit12() {
  local version
  [ -x "$1/bin/nvcc" ] && [ -e "$1/include/cupti.h" ] || return 1
  version="$(cuda_version "$1")"
  [ "${version:-0}" -ge 12040 ] && [ "$version" -lt 13000 ]
}

# debian_mirror: where this system gets Debian's packages from.
debian_mirror() {
  # shellcheck disable=SC2016  # apt's own names
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null | grep -m 1 '/debian/*$'
}

# private_apt FOLDER RELEASE SECTION: settings for an apt that knows that section only, and leaves the system's alone.
private_apt() {
  local mirror
  mirror="$(debian_mirror)" || return 1
  mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" "$1/parts"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s %s\n' "$mirror" "$2" "$3" > "$1/sources.list"
  cat > "$1/apt.conf" <<CONF
Dir::State "$1/state";
Dir::State::status "/dev/null";
Dir::Cache "$1/cache";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "$1/parts";
Dir::Etc::preferencesparts "$1/parts";
Acquire::Languages "none";
Acquire::Retries "2";
APT::Sandbox::User "";
CONF
}

# unpack_debian FOLDER: the pinned packages as FOLDER/debian.
unpack_debian() {
  local release section package version sum
  while read -r release section package version sum; do
    mkdir -p "$1/apt" && private_apt "$1/apt" "$release" "$section" || return 1
    (cd "$1" && APT_CONFIG="$1/apt/apt.conf" && export APT_CONFIG &&
      apt-get -q update && apt-get -q download "$package=$version") >> "$(graphkit_cache)/setup.log" 2>&1 || return 1
    printf '%s  %s\n' "$sum" "$(echo "$1/$package"_*.deb)" | sha256sum -c --quiet >> "$(graphkit_cache)/setup.log" 2>&1 ||
      return 1
    dpkg-deb -x "$1/$package"_*.deb "$1/debian" || return 1
  done < <(grep -v '^#' "$GRAPHKIT_SETUP/cuda12-packages.txt")
}

# lay_out_toolkit12 FOLDER: puts Debian's programs and the wheels' headers and libraries together as FOLDER/toolkit.
lay_out_toolkit12() {
  local from="$1/debian/usr" wheels="$1/nvidia" to="$1/toolkit" part
  mkdir -p "$to/bin" "$to/nvvm/bin" "$to/include" "$to/lib"
  cp -a "$from"/bin/{cudafe++,fatbinary,ptxas,nvlink,bin2c,cuobjdump} "$to/bin/"
  cp -a "$from/lib/nvidia-cuda-toolkit/bin/nvcc" "$from/lib/nvidia-cuda-toolkit/bin/crt" "$to/bin/"
  cp -a "$from/lib/nvidia-cuda-toolkit/bin/cicc" "$to/nvvm/bin/"
  cp -a "$from/lib/nvidia-cuda-toolkit/libdevice" "$to/nvvm/"
  for part in cuda_runtime cuda_nvcc cuda_cccl cuda_cupti cu13; do  # of cu13 only NVTX is pinned
    cp -a "$wheels/$part/include/." "$to/include/"
    [ ! -d "$wheels/$part/lib" ] || cp -a "$wheels/$part/lib/." "$to/lib/"
  done
  ln -s lib "$to/lib64"
  ln -s libcudart.so.12 "$to/lib/libcudart.so"
  ln -s libcupti.so.12 "$to/lib/libcupti.so"
  cat > "$to/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(CICC_PATH):$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib"
PROFILE
}

# try_toolkit12 ROOT: compiles and links a kernel with it. The device runtime is in none of the pieces.
try_toolkit12() {
  local folder="$1.try" ok=0
  mkdir -p "$folder"
  cat > "$folder/try.cu" <<'CU'
#include <cupti.h>
#include <nvtx3/nvToolsExtMem.h>
__global__ void Fill(int* out) { out[threadIdx.x] = 1; }
int main() { Fill<<<1, 32>>>(nullptr); return cudaGetLastError() == cudaSuccess; }
CU
  "$1/bin/nvcc" -cudart shared -cudadevrt none -arch=sm_90a -o "$folder/try" "$folder/try.cu" \
    >> "$(graphkit_cache)/setup.log" 2>&1 || ok=1
  rm -rf "$folder"
  return $ok
}

# fetch_toolkit12: the cache is whole or absent, as for CUDA 13.
fetch_toolkit12() {
  local target temporary
  target="$(cuda12_cache)"
  mkdir -p "$(graphkit_cache)"
  exec 9> "$(graphkit_cache)/.lock"
  flock 9
  if usable_toolkit12 "$target"; then return 0; fi
  temporary="$(mktemp -d "$(graphkit_cache)/.cuda12.XXXXXX")"
  say "no CUDA 12 toolkit here: fetching its pieces (nvcc from Debian, 5 wheels, 130 MB) into $target"
  if unpack_debian "$temporary" && unpack_wheels "$temporary" cuda12-wheels.txt && lay_out_toolkit12 "$temporary" &&
    try_toolkit12 "$temporary/toolkit"; then
    rm -rf "$target" && mv -T "$temporary/toolkit" "$target" && rm -rf "$temporary" && return 0
  fi
  rm -rf "$temporary"
  return 1
}

# want_toolkit12: finds or fetches one; without it the tests of CUDA 12 programs are left out, and this says so.
want_toolkit12() {
  if [ -n "${GRAPHKIT_CUDA12_ROOT:-}" ]; then
    usable_toolkit12 "$GRAPHKIT_CUDA12_ROOT" ||
      die "GRAPHKIT_CUDA12_ROOT=$GRAPHKIT_CUDA12_ROOT has no CUDA 12 toolkit with CUPTI, 12.4 or later (bin/nvcc, include/cupti.h)" \
        "name another, or none to look in the cache"
    return 0
  fi
  if usable_toolkit12 "$(cuda12_cache)"; then return 0; fi
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    say "no CUDA 12 toolkit pinned for $(uname -sm): programs of CUDA 12 are not tested (set GRAPHKIT_CUDA12_ROOT to a toolkit)"
  elif ! fetch_toolkit12; then
    say "no CUDA 12 toolkit here, and none could be fetched: programs of CUDA 12 are not tested (see $(graphkit_cache)/setup.log; GRAPHKIT_CUDA12_ROOT names a toolkit elsewhere)"
  fi
}

# fetch_headers VERSION FOLDER: the headers of its wheels, and its runtime, as FOLDER/VERSION.
fetch_headers() {
  local temporary="$2/.$1" part
  rm -rf "$temporary" && mkdir -p "$temporary/include"
  sed -n "s/^$1 //p" "$GRAPHKIT_SETUP/cuda-headers.txt" > "$temporary/pins.txt"
  if unpack_wheels "$temporary" "$temporary/pins.txt"; then
    mkdir "$temporary/lib"
    for part in "$temporary"/nvidia/*/include; do cp -a "$part/." "$temporary/include/"; done
    cp -a "$temporary"/nvidia/*/lib/libcudart.so.* "$temporary/lib/"
    rm -rf "${2:?}/$1" && mkdir "$2/$1" && mv "$temporary/include" "$temporary/lib" "$2/$1/" && rm -rf "$temporary" &&
      return 0
  fi
  rm -rf "$temporary"
  return 1
}

# want_headers: of each version that is pinned, and says which couldn't be had.
want_headers() {
  local folder version
  folder="$(cuda_headers_cache)"
  mkdir -p "$folder"
  for version in $(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' "$GRAPHKIT_SETUP/cuda-headers.txt" | sort -uV); do
    [ -e "$folder/$version/include/cuda.h" ] && continue
    say "fetching the headers of CUDA $version into $folder"
    fetch_headers "$version" "$folder" ||
      say "the headers of CUDA $version could not be fetched: layouts are not compared with them (see $(graphkit_cache)/setup.log)"
  done
}
