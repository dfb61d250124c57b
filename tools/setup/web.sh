# shellcheck shell=bash
# The libraries that the page in the browser is built with, from Debian's source packages, in the cache: zlib, zstd, simdjson,
# SQLite and GNU's demangler (tools/cmake/GraphkitWeb.cmake), and the headers of nlohmann/json and CLI11. Sourced by tools/setup.sh and
# tools/web.sh, after cuda12.sh.

web_cache() {
  local version
  version="$(cat "$(dirname "${BASH_SOURCE[0]}")/web.sh" <(dpkg-query -W nlohmann-json3-dev libcli11-dev) | sha256sum)"
  printf '%s/web-%s\n' "$(graphkit_cache)" "${version:0:12}"
}

# fetch_web_sources FOLDER: the source packages, unpacked.
fetch_web_sources() {
  mkdir -p "$1/apt" && private_apt "$1/apt" bookworm main || return 1
  sed -i 's/^deb /deb-src /' "$1/apt/sources.list"
  export APT_CONFIG="$1/apt/apt.conf"
  cd "$1" && apt-get -q update && apt-get -q --download-only source zlib libzstd simdjson sqlite3 libiberty || return 1
  for package in ./*.dsc; do dpkg-source --no-check -x "$package" || return 1; done
}

# lay_out_web FOLDER: only what is compiled, as FOLDER/web.
lay_out_web() {
  local web="$1/web"
  mkdir -p "$web/headers" "$web/zlib" "$web/simdjson" "$web/sqlite" "$web/demangle" "$1/sqlite" || return 1
  cp -rL /usr/include/CLI /usr/include/nlohmann "$web/headers/" || return 1
  cp "$1"/zlib-*/*.[ch] "$web/zlib/" && rm "$web"/zlib/gz*.c || return 1
  cp -r "$1"/libzstd-*/lib "$web/zstd" || return 1
  cp "$1"/simdjson-*/singleheader/simdjson.{h,cpp} "$web/simdjson/" || return 1
  cp "$1"/libiberty-*/libiberty/cp-demangle.[ch] "$1"/libiberty-*/include/{ansidecl,demangle,libiberty}.h "$web/demangle/" || return 1
  cd "$1/sqlite" && sh "$(echo "$1"/sqlite3-*/configure)" --disable-tcl && make sqlite3.c && cp sqlite3.c sqlite3.h "$web/sqlite/"
}

# want_web: the cache is whole or absent; without it the page isn't built, and tools/test.sh says so.
want_web() {
  local target temporary
  target="$(web_cache)"
  [ -e "$target" ] && return 0
  mkdir -p "$(graphkit_cache)"
  temporary="$(mktemp -d "$(graphkit_cache)/.web.XXXXXX")"
  say "fetching the libraries of the page in the browser (sources of 5 Debian packages, 22 MB) into $target"
  if (fetch_web_sources "$temporary") >> "$(graphkit_cache)/setup.log" 2>&1 &&
    (lay_out_web "$temporary") >> "$(graphkit_cache)/setup.log" 2>&1; then
    mv -T "$temporary/web" "$target" 2> /dev/null || [ -e "$target" ]
  else
    say "they could not be fetched: the page in the browser is skipped (see $(graphkit_cache)/setup.log)"
  fi
  rm -rf "$temporary"
}
