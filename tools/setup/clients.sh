# shellcheck shell=bash
# The libraries of others that tools/test.sh --clients runs programs of (clients.txt): gigabytes, kept in the cache. Sourced by
# tools/test.sh.

# client_python NAME: where its Python is.
client_python() { printf '%s/clients/%s/bin/python\n' "$(graphkit_cache)" "$1"; }

# pip_for FOLDER PACKAGE... [--no-deps PACKAGE...]: the latter without what they require. +NAME: what another environment has.
pip_for() {
  local folder="$1" word packages=() alone=() part=packages
  shift
  for word in "$@"; do
    case "$word" in
      +*) (cd "$(graphkit_cache)/clients/${word#+}/lib" && echo "$PWD"/python3.*/site-packages) \
        > "$(echo "$folder"/lib/python3.*/site-packages)/clients.pth" ;;
      --no-deps) part=alone ;;
      *) if [ "$part" = alone ]; then alone+=("$word"); else packages+=("$word"); fi ;;
    esac
  done
  "$folder/bin/python" -m pip install -q --retries 2 "${packages[@]}" &&
    { [ "${#alone[@]}" -eq 0 ] || "$folder/bin/python" -m pip install -q --retries 2 --no-deps "${alone[@]}"; }
}

# want_client NAME PACKAGE...: 1, and a line, where it can't be fetched.
want_client() {
  local name="$1" folder
  shift
  folder="$(graphkit_cache)/clients/$name"
  [ -e "$folder/ready" ] && return 0
  mkdir -p "$(graphkit_cache)/clients"
  say "fetching $* into $folder (gigabytes)"
  if python3 -m venv "$folder" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    pip_for "$folder" "$@" >> "$(graphkit_cache)/setup.log" 2>&1; then
    touch "$folder/ready"
    return 0
  fi
  rm -rf "$folder"
  say "$name could not be fetched (see $(graphkit_cache)/setup.log)"
  return 1
}

# fetch_torch_tests FOLDER: PyTorch 2.6's own tests, from Debian's source package, as FOLDER/test and FOLDER/tools.
fetch_torch_tests() {
  mkdir -p "$1/apt" && private_apt "$1/apt" trixie main || return 1
  sed -i 's/^deb /deb-src /' "$1/apt/sources.list"
  export APT_CONFIG="$1/apt/apt.conf"
  cd "$1" && apt-get -q update && apt-get -q --download-only --tar-only source pytorch=2.6.0+dfsg-7 || return 1
  tar -xJf pytorch_*.orig.tar.xz --strip-components 1 --wildcards '*/test/test_cuda*.py' '*/test/inductor' '*/tools/stats' \
    '*/tools/testing' '*/tools/__init__.py'
}

# want_torch_tests: 1, and a line, where they, or their PyTorch, can't be fetched.
want_torch_tests() {
  local folder
  want_client torch-tests torch==2.6.0 numpy pytest expecttest hypothesis psutil pyyaml setuptools || return 1
  folder="$(graphkit_cache)/clients/torch-tests/pytorch"
  [ -e "$folder" ] && return 0
  say "fetching PyTorch's own tests into $folder (27 MB)"
  if (fetch_torch_tests "$folder.part") >> "$(graphkit_cache)/setup.log" 2>&1; then
    mv -T "$folder.part" "$folder"
    return 0
  fi
  rm -rf "$folder.part"
  say "PyTorch's own tests could not be fetched (see $(graphkit_cache)/setup.log)"
  return 1
}
