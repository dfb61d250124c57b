#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Builds the documentation as a site with search: FOLDER/index.html. Fails where a link or a page's place
# in the navigation is missing.
#
#   tools/site.sh [FOLDER]     into FOLDER (default: build/site)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/python.sh

folder="${1:-build/site}"
tools/setup.sh site
mkdocs="$(site_python)/bin/mkdocs"
[ -x "$mkdocs" ] || die "what builds the site could not be fetched" "see $(graphkit_cache)/setup.log"
mkdir -p "$folder"
"$mkdocs" build -q --strict -f tools/site/mkdocs.yml -d "$(cd "$folder" && pwd)"
printf '%s\n' "$folder/index.html"
