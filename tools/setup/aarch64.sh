# shellcheck shell=bash
# The tools that build for aarch64 on x86_64, in the cache: Debian's cross compiler, arm64's libraries and an emulator
# (aarch64-packages.txt: unpacked, not installed), and CUDA's headers (aarch64-wheels.txt). tools/cmake/aarch64.cmake is
# the toolchain file that goes with them. Sourced by tools/setup.sh, tools/wheel.sh and tools/test.sh.

aarch64_cache() {
  local sum
  sum="$(cd "$(dirname "${BASH_SOURCE[0]}")" && cat aarch64-packages.txt aarch64-wheels.txt | sha256sum)"
  printf '%s/aarch64-%s\n' "$(graphkit_cache)" "${sum:0:12}"
}

# aarch64_packages FOLDER: the names of the packages that go there.
aarch64_packages() { sed -n "s/^$1  *//p" "$GRAPHKIT_SETUP/aarch64-packages.txt"; }

# download_debian APT ARCHITECTURE COMMAND... PACKAGE...: into APT/cache/archives or the current folder, as apt-get does.
download_debian() {
  local apt="$1" architecture="$2"
  shift 2
  if [ ! -e "$apt/apt.conf" ]; then
    private_apt "$apt" bookworm main || return 1
    printf 'APT::Architecture "%s";\nAPT::Architectures { "%s"; };\nAPT::Install-Recommends "false";\n' \
      "$architecture" "$architecture" >> "$apt/apt.conf"
    APT_CONFIG="$apt/apt.conf" apt-get -q update || return 1
  fi
  APT_CONFIG="$apt/apt.conf" apt-get -q -y "$@"
}

# unpack_all FOLDER PACKAGE...
unpack_all() {
  local folder="$1" package
  shift
  mkdir -p "$folder"
  for package in "$@"; do dpkg-deb -x "$package" "$folder" || return 1; done
}

# fetch_aarch64_packages FOLDER: as FOLDER/cross and FOLDER/sysroot.
fetch_aarch64_packages() {
  local packages
  mkdir -p "$1/apt/amd64" "$1/apt/arm64" "$1/debs/cross" "$1/debs/headers"
  mapfile -t packages < <(aarch64_packages cross)
  (cd "$1/debs/cross" && download_debian "$1/apt/amd64" amd64 download "${packages[@]}") || return 1
  mapfile -t packages < <(aarch64_packages sysroot)
  download_debian "$1/apt/arm64" arm64 --download-only install "${packages[@]}" || return 1
  mapfile -t packages < <(aarch64_packages headers)
  (cd "$1/debs/headers" && download_debian "$1/apt/arm64" arm64 download "${packages[@]}") || return 1
  unpack_all "$1/cross" "$1"/debs/cross/*.deb &&
    unpack_all "$1/sysroot" "$1"/apt/arm64/cache/archives/*.deb "$1"/debs/headers/*.deb && stay_inside "$1/sysroot"
}

# stay_inside FOLDER: makes the absolute links in it, of which libz.so is one, relative to where they are.
stay_inside() {
  local link
  while IFS= read -r link; do
    ln -snf "$(realpath -ms --relative-to="$(dirname "$link")" "$1$(readlink "$link")")" "$link" || return 1
  done < <(find "$1" -type l -lname '/*')
}

# lay_out_aarch64 FOLDER: programs that find their own libraries wherever FOLDER lies, and CUDA's headers.
lay_out_aarch64() {
  local program name
  mkdir -p "$1/toolkit/bin" "$1/toolkit/cuda/include"
  mv "$1/cross" "$1/sysroot" "$1/toolkit/"
  for program in gcc-12 g++-12 ar nm objcopy objdump ranlib readelf strip; do
    name="$1/toolkit/bin/aarch64-linux-gnu-${program%-12}"
    cat > "$name" <<PROGRAM
#!/bin/sh
here="\${0%/*}/.."
export LD_LIBRARY_PATH="\$here/cross/usr/lib/x86_64-linux-gnu:\$here/cross/lib/x86_64-linux-gnu"
exec "\$here/cross/usr/bin/aarch64-linux-gnu-$program" "\$@"
PROGRAM
    chmod +x "$name"
  done
  cat > "$1/toolkit/bin/qemu-aarch64" <<'PROGRAM'
#!/bin/sh
here="${0%/*}/.."
exec "$here/cross/usr/bin/qemu-aarch64-static" -L "$here/sysroot" "$@"
PROGRAM
  chmod +x "$1/toolkit/bin/qemu-aarch64"
  cp -a "$1"/nvidia/cu13/include/. "$1/toolkit/cuda/include/"
}

# try_aarch64 FOLDER: a program of C++ and of a library of the sysroot runs, emulated.
try_aarch64() {
  local ok=0
  cat > "$1.cpp" <<'CPP'
#include <cupti.h>
#include <zstd.h>
#include <iostream>
int main() {
  static_assert(sizeof(CUdeviceptr) == 8 && static_cast<char>(-1) > 0, "built for aarch64");
  std::cout << ZSTD_versionNumber() << "\n";
}
CPP
  { "$1/bin/aarch64-linux-gnu-g++" "--sysroot=$1/sysroot" -std=c++20 "-I$1/cuda/include" "$1.cpp" -o "$1.try" -lzstd &&
    "$1/bin/qemu-aarch64" "$1.try"; } || ok=1
  rm -f "$1.cpp" "$1.try"
  return $ok
}

# fetch_aarch64: the cache is whole or absent, as for CUDA 13.
fetch_aarch64() {
  local target temporary
  target="$(aarch64_cache)"
  mkdir -p "$(graphkit_cache)"
  exec 9> "$(graphkit_cache)/.lock"
  flock 9
  if [ -e "$target/bin/aarch64-linux-gnu-g++" ]; then return 0; fi
  temporary="$(mktemp -d "$(graphkit_cache)/.aarch64.XXXXXX")"
  say "fetching what builds for aarch64 (compiler, libraries and emulator of Debian, 4 wheels, 150 MB) into $target"
  if fetch_aarch64_packages "$temporary" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    unpack_wheels "$temporary" aarch64-wheels.txt aarch64 && lay_out_aarch64 "$temporary" &&
    try_aarch64 "$temporary/toolkit" >> "$(graphkit_cache)/setup.log" 2>&1; then
    rm -rf "$target" && mv -T "$temporary/toolkit" "$target" && rm -rf "$temporary" && return 0
  fi
  rm -rf "$temporary"
  return 1
}

# want_aarch64: finds or fetches it; without it nothing is built for aarch64, and this says so.
want_aarch64() {
  if [ -e "$(aarch64_cache)/bin/aarch64-linux-gnu-g++" ]; then return 0; fi
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    say "what builds for aarch64 is pinned for x86_64, not for $(uname -sm)"
  elif ! fetch_aarch64; then
    say "what builds for aarch64 could not be fetched (see $(graphkit_cache)/setup.log)"
  fi
}
