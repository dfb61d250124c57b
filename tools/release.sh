#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Makes what a release consists of: the wheel, the sources as an archive, notes, and the checksums of all of them. Publishes
# nothing. The version is that of CMakeLists.txt; the notes are the changes since the newest tag, or since the beginning.
#
#   tools/release.sh [FOLDER]     into FOLDER (default: dist)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh

folder="${1:-dist}"
version="$(sed -n 's/^project(graphkit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
[ -n "$version" ] || die "no version found in CMakeLists.txt" "project(graphkit VERSION …) is expected there"
grep -q "^version = \"$version\"" plugins/python/pyproject.toml ||
  die "plugins/python/pyproject.toml has another version than $version" "set both to the same"
[ -z "$(git status --porcelain)" ] || die "there are changes that aren't committed" "commit or stash them"

mkdir -p "$folder"
wheel="$(tools/wheel.sh "$folder")"
archive="graphkit-$version.tar.gz" notes="graphkit-$version.md"
git archive --format=tar.gz --prefix="graphkit-$version/" -o "$folder/$archive" HEAD
since="$(git describe --tags --abbrev=0 2> /dev/null || true)"
{
  printf '# graphkit %s\n\n' "$version"
  git log --format='* %s' ${since:+"$since.."}HEAD
} > "$folder/$notes"
(cd "$folder" && sha256sum "$(basename "$wheel")" "$archive" "$notes" > SHA256SUMS)
printf '%s\n' "$wheel" "$folder/$archive" "$folder/$notes" "$folder/SHA256SUMS"
