# shellcheck shell=bash
# The Python that builds and tests the Python package. Sourced by tools/setup.sh and tools/test.sh.

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
  say "fetching what builds the Python package (11 wheels, 20 MB) into $target"
  if python3 -m venv --clear "$target" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    "$target/bin/python" -m pip install --no-deps --only-binary=:all: --require-hashes --progress-bar off --retries 2 \
      -r "$GRAPHKIT_SETUP/python-package.txt" >> "$(graphkit_cache)/setup.log" 2>&1; then
    touch "$target/ready"
  else
    say "it could not be fetched: the Python package is skipped (see $(graphkit_cache)/setup.log)"
    rm -rf "$target"
  fi
}
