#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Builds the documentation as a site with search: FOLDER/index.html. Fails where a link or a page's place
# in the navigation is missing.
#
#   tools/site.sh [--web] [FOLDER]     into FOLDER (default: build/site); with the page that shows any file (tools/web.sh):
#                                      built with --web, otherwise as it is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/python.sh

if [ "${1:-}" = --web ]; then
  tools/web.sh > /dev/null
  shift
fi
folder="${1:-build/site}"
tools/setup.sh site
mkdocs="$(site_python)/bin/mkdocs"
[ -x "$mkdocs" ] || die "what builds the site could not be fetched" "see $(graphkit_cache)/setup.log"
mkdir -p "$folder"
"$mkdocs" build -q --strict -f tools/site/mkdocs.yml -d "$(cd "$folder" && pwd)"
if [ -e build-web/graphkit.html ]; then
  cp build-web/graphkit.html "$folder/graphkit.html"
else
  say "without the page that shows any file: tools/site.sh --web builds it"
fi
printf '%s\n' "$folder/index.html"
