# shellcheck shell=bash
# Pythons of the set-up's own, in the cache: one builds and tests the Python package, one builds the site. Sourced by
# tools/setup.sh, tools/test.sh, tools/wheel.sh and tools/site.sh.

# own_python NAME: where the Python is that has the packages of NAME.txt.
own_python() {
  local sum
  sum="$(cat "$(dirname "${BASH_SOURCE[0]}")/$1.txt" <(python3 --version) | sha256sum)"
  printf '%s/%s-%s\n' "$(graphkit_cache)" "$1" "${sum:0:12}"
}
package_python() { own_python python-package; }
site_python() { own_python site; }

# want_python NAME WHAT: fetches it; without it, WHAT is skipped, and tools/test.sh says so.
want_python() {
  local target
  target="$(own_python "$1")"
  [ -e "$target/ready" ] && return 0
  mkdir -p "$(graphkit_cache)"
  say "fetching what builds $2 ($(grep -c == "$GRAPHKIT_SETUP/$1.txt") wheels) into $target"
  if python3 -m venv --clear "$target" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    "$target/bin/python" -m pip install --no-deps --only-binary=:all: --require-hashes --progress-bar off --retries 2 \
      -r "$GRAPHKIT_SETUP/$1.txt" >> "$(graphkit_cache)/setup.log" 2>&1; then
    touch "$target/ready"
  else
    say "it could not be fetched: $2 is skipped (see $(graphkit_cache)/setup.log)"
    rm -rf "$target"
  fi
}
