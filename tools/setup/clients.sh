# shellcheck shell=bash
# The libraries of others that tools/test.sh --clients runs programs of (clients.txt): gigabytes, kept in the cache. Sourced by
# tools/test.sh.

# client_python NAME: where its Python is.
client_python() { printf '%s/clients/%s/bin/python\n' "$(graphkit_cache)" "$1"; }

# want_client NAME PACKAGE...: 1, and a line, where it can't be fetched.
want_client() {
  local name="$1" folder
  shift
  folder="$(graphkit_cache)/clients/$name"
  [ -e "$folder/ready" ] && return 0
  mkdir -p "$(graphkit_cache)/clients"
  say "fetching $* into $folder (gigabytes)"
  if python3 -m venv "$folder" >> "$(graphkit_cache)/setup.log" 2>&1 &&
    "$folder/bin/python" -m pip install -q --retries 2 "$@" >> "$(graphkit_cache)/setup.log" 2>&1; then
    touch "$folder/ready"
    return 0
  fi
  rm -rf "$folder"
  say "$name could not be fetched (see $(graphkit_cache)/setup.log)"
  return 1
}
