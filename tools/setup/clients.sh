# shellcheck shell=bash
# The libraries of others that tools/test.sh --clients runs programs of (clients.txt): gigabytes, kept in the cache. Sourced by
# tools/test.sh.

# client_python NAME: where its Python is.
client_python() { printf '%s/clients/%s/bin/python\n' "$(graphkit_cache)" "$1"; }

# pip_for FOLDER PACKAGE... [--no-deps PACKAGE...] [--build PACKAGE...]: the second without what they require, the last built of
# their sources. +NAME: what another environment has.
pip_for() {
  local folder="$1" word packages=() alone=() built=() part=packages
  shift
  for word in "$@"; do
    case "$word" in
      +*) (cd "$(graphkit_cache)/clients/${word#+}/lib" && echo "$PWD"/python3.*/site-packages) \
        >> "$(echo "$folder"/lib/python3.*/site-packages)/clients.pth" ;;
      --no-deps) part=alone ;;
      --build) part=built ;;
      *) local -n list="$part" && list+=("$word") ;;
    esac
  done
  { [ "${#packages[@]}" -eq 0 ] || "$folder/bin/python" -m pip install -q --retries 2 "${packages[@]}"; } &&
    { [ "${#alone[@]}" -eq 0 ] || "$folder/bin/python" -m pip install -q --retries 2 --no-deps "${alone[@]}"; } &&
    { [ "${#built[@]}" -eq 0 ] || build_extensions "$folder" "${built[@]}"; }
}

# build_extensions FOLDER PACKAGE...: extensions of PyTorch, by extension_cxx.sh, with the headers of a toolkit and of NVIDIA's
# wheels. Two jobs are what 4 GB of memory take.
build_extensions() {
  local folder="$1" work headers status=0
  shift
  work="$(mktemp -d)"
  headers="$("$folder/bin/python" -c 'import glob, nvidia; print(":".join(sum((glob.glob(f"{path}/*/include") for path in nvidia.__path__), [])))')"
  PATH="$folder/bin:$(graphkit_cache)/clients/training/bin:$PATH" CPATH="$headers" CUDA_HOME="$(find_toolkit)" CCACHE_DISABLE=1 \
    CXX="$GRAPHKIT_SETUP/extension_cxx.sh" EXTENSION_WORK="$work" MAX_JOBS=2 NVTE_WITH_NCCL_EP=0 NVTE_PYTORCH_FORCE_BUILD=TRUE \
    "$folder/bin/python" -m pip install -q --retries 2 --no-build-isolation --no-deps "$@" || status=1
  rm -rf "$work"
  return $status
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

# want_framework NAME: the environment of a line of frameworks.txt, after those that it stands on.
want_framework() {
  local name="$1" word packages
  packages="$(sed -n "s/^$name //p" "$GRAPHKIT_SETUP/frameworks.txt")"
  for word in $packages; do
    case "$word" in
      +torch) want_client torch torch numpy || return 1 ;;
      +*) want_framework "${word#+}" || return 1 ;;
    esac
  done
  # shellcheck disable=SC2086  # a list of words
  want_client "$name" $packages
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
