# shellcheck shell=bash
# Installs the Debian packages of packages.txt that are missing. Sourced by tools/setup.sh.

# have_proof PROOF: whether this machine shows what the table's third column asks for.
have_proof() {
  local value="${1#*:}" folder
  case "$1" in
    command:*) command -v "$value" > /dev/null ;;
    file:*) compgen -G "$value" > /dev/null ;;
    module:*) python3 -c "import $value" 2> /dev/null ;;
    header:*)
      for folder in /usr/include /usr/local/include ${CPLUS_INCLUDE_PATH:+${CPLUS_INCLUDE_PATH//:/ }}; do
        if [ -e "$folder/$value" ]; then return 0; fi
      done
      return 1 ;;
  esac
}

# missing_packages NEED...: the packages of these needs that are not here, one a line.
missing_packages() {
  local need package proof
  while read -r need package proof; do
    case " $* " in *" $need "*) ;; *) continue ;; esac
    have_proof "$proof" && continue
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed && continue
    printf '%s\n' "$package"
  done < <(grep -v '^#' "$GRAPHKIT_SETUP/packages.txt")
}

# as_root COMMAND...: as it is for root, through sudo for everyone else.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo > /dev/null && { [ -t 0 ] || sudo -n true 2> /dev/null; }
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"
}

# Shows every tenth package of apt-get's output, and keeps all of it in the log.
apt_progress() {
  awk -v log_file="$1" '
    { print >> log_file }
    / newly installed/ { for (i = 1; i < NF; i++) if ($(i + 1) == "newly") total = $i }
    /^Setting up / { n++; if (n % 10 == 0) printf "graphkit:   %d of %d\n", n, total > "/dev/stderr" }'
}

# install_packages PACKAGE...: returns 1 where they can't be installed; the log says why.
install_packages() {
  local log_file
  log_file="$(graphkit_cache)/setup.log"
  mkdir -p "$(graphkit_cache)"
  : > "$log_file"
  say "installing, with what they depend on: $*"
  apt_get update >> "$log_file" 2>&1 || say "the package lists could not be refreshed: going on with those here"
  # Pipe status: with pipefail the failure of apt-get is the pipe's.
  apt_get install -y --no-install-recommends "$@" 2>&1 | apt_progress "$log_file"
}

# need_packages NEED...: installs what is missing, or ends with the line that names it.
need_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get > /dev/null ||
    die "missing: ${missing[*]}" "this system has no apt-get: install what your system calls these packages, then run this again"
  can_be_root ||
    die "missing: ${missing[*]}" "run as root: apt-get install ${missing[*]}"
  install_packages "${missing[@]}" && return 0
  mapfile -t missing < <(missing_packages "$@")
  die "could not install: ${missing[*]}" \
    "see $(graphkit_cache)/setup.log, and check the network, the package sources ('universe' on Ubuntu) and the free space"
}
