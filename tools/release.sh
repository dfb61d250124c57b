#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/..
# Makes what a release consists of: the wheel, the sources as an archive, notes, and the checksums of all of them. Then takes
# the folder for a package index, and installs the wheel from it by its name. Publishes nothing. The version is that of CMakeLists.txt; the notes are the changes since the newest tag, or since the beginning.
#
#   tools/release.sh [FOLDER]     into FOLDER (default: dist)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/python.sh

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

python="$(package_python)/bin/python" name="$(sed -n 's/^name = "\(.*\)"$/\1/p' plugins/python/pyproject.toml)"
site="$(mktemp -d)"
trap 'rm -rf "$site"' EXIT
say "installing $name $version from $folder"
"$python" -m pip install -q --no-deps --no-index --find-links "$folder" --target "$site" "$name==$version" ||
  die "$name $version can't be installed from $folder" "pip's message is above"
says="$(cd "$site" && PYTHONPATH="$site" "$python" -m "$name" --version)" || die "the installed command doesn't run" "see above"
[[ "$says" == "graphkit $version"$'\n'* ]] || die "the installed command is of another version than $version" "it printed: $says"
printf '%s\n' "$wheel" "$folder/$archive" "$folder/$notes" "$folder/SHA256SUMS"
