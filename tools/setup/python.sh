# shellcheck shell=bash
# The Python packages of test-wheels.txt, unpacked into the cache. Sourced by tools/setup.sh and tools/test.sh.

# Where they are: the name changes with the pins. tools/test.sh puts it on PYTHONPATH.
test_python() {
  local sum
  sum="$(sha256sum "$(dirname "${BASH_SOURCE[0]}")/test-wheels.txt")"
  printf '%s/python-%s\n' "$(graphkit_cache)" "${sum:0:12}"
}

# unpack_test_wheels FOLDER: downloads the pinned pure Python wheels and lays them out as FOLDER/site.
unpack_test_wheels() {
  local wheel
  python3 -m pip download --no-deps --only-binary=:all: --require-hashes --progress-bar off --retries 2 \
    --platform any --dest "$1/wheels" -r "$GRAPHKIT_SETUP/test-wheels.txt" >> "$(graphkit_cache)/setup.log" 2>&1 ||
    return 1
  for wheel in "$1"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$1/site" || return 1
  done
}

# want_test_wheels: without them the tests that need them skip, and this says so in one line.
want_test_wheels() {
  local target temporary
  target="$(test_python)"
  [ -d "$target" ] && return 0
  mkdir -p "$(graphkit_cache)"
  temporary="$(mktemp -d "$(graphkit_cache)/.python.XXXXXX")"
  say "fetching the Python packages that tests compare with (2 wheels, 0.5 MB) into $target"
  if unpack_test_wheels "$temporary"; then
    mv -T "$temporary/site" "$target" 2> /dev/null || [ -d "$target" ]
  else
    say "they could not be fetched: what needs them is skipped (see $(graphkit_cache)/setup.log)"
  fi
  rm -rf "$temporary"
}
