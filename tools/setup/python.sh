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

# Where a Python is that builds and tests the Python package, in a virtual environment of its own.
package_python() {
  local sum
  sum="$(cat "$(dirname "${BASH_SOURCE[0]}")/python-package.txt" <(python3 --version) | sha256sum)"
  printf '%s/python-package-%s\n' "$(graphkit_cache)" "${sum:0:12}"
}

# want_package_python: without it the Python package is neither built nor tested, and tools/test.sh says so.
want_package_python() {
  local target
  target="$(package_python)"
  [ -e "$target/ready" ] && return 0
  mkdir -p "$(graphkit_cache)"
  say "fetching what builds the Python package (9 wheels, 20 MB) into $target"
  if python3 -m venv --clear "$target" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    "$target/bin/python" -m pip install --no-deps --only-binary=:all: --require-hashes --progress-bar off --retries 2 \
      -r "$GRAPHKIT_SETUP/python-package.txt" >> "$(graphkit_cache)/setup.log" 2>&1; then
    touch "$target/ready"
  else
    say "it could not be fetched: the Python package is skipped (see $(graphkit_cache)/setup.log)"
    rm -rf "$target"
  fi
}
