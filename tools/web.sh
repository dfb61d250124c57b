#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Builds the page that shows any file in a browser, without an installation: graphkit as WebAssembly in one HTML file
# (docs/report.md).
#
#   tools/web.sh [FILE]     into FILE (default: build-web/graphkit.html)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
GRAPHKIT_SETUP=tools/setup
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/web.sh

file="${1:-build-web/graphkit.html}"
tools/setup.sh build web
[ -e "$(web_cache)" ] || die "the libraries of the page could not be fetched" "see $(graphkit_cache)/setup.log"
export NODE_PATH=/usr/share/nodejs  # Debian's acorn, for emscripten, also where node isn't Debian's
settings=()
command -v ccache > /dev/null && settings=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
mkdir -p build-web
say "configuring build-web"
cmake -B build-web -G Ninja --toolchain "$(em-config EMSCRIPTEN_ROOT)/cmake/Modules/Platform/Emscripten.cmake" \
  -DCMAKE_BUILD_TYPE=Release -DGRAPHKIT_WEB_SOURCES="$(web_cache)" "${settings[@]}" > build-web/configure.log 2>&1 ||
  die "cmake could not configure build-web" "see build-web/configure.log"
build build-web graphkit_cli
python3 tools/web/assemble.py build-web "$file"
printf '%s\n' "$file"
