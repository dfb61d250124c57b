#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR
# Runs commands in a clone of HEAD in a bare Debian 12: a root that holds Debian's minimal system and git, so that a missing
# install step shows. Needs root, debootstrap (installed where it is missing) and Debian's packages.
#
#   tools/fresh.sh                            ./tools/demo.sh, then CI=true ./tools/test.sh
#   tools/fresh.sh './tools/wheel.sh' '…'     these commands instead, one after the other in one root, each from the clone's top
#   tools/fresh.sh --ready                    makes the minimal system only; exits 3, with the reason, where that can't be done
#
#   FRESH_KEEP=1         keeps the root and prints where it is
#   FRESH_CCACHE=FOLDER  a compiler cache that the root shares with this machine, and ccache in the root
#   FRESH_SHARE=FOLDER   shown in the root as /root/share, read-only
#
# Exits with the status of the first command that failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh

release=bookworm
base="$(graphkit_cache)/fresh-$release"
certificates=/etc/ssl/certs/ca-certificates.crt

cannot() {
  say "no bare root here: $1"
  exit 3
}

# The system's own mirror and settings of apt and pip, so that the root reaches packages as this machine does.
take_settings() {
  local file
  rm -f "$1/etc/apt/sources.list"
  mkdir -p "$1/etc/apt/sources.list.d" "$1/usr/local/share/ca-certificates"
  [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$1/etc/apt/"
  cp -a /etc/apt/sources.list.d/. "$1/etc/apt/sources.list.d/"
  # Settings that call programs which the minimal system lacks stay behind.
  for file in /etc/apt/apt.conf.d/*; do
    grep -qE 'Invoke|Pre-|Post-' "$file" || cp "$file" "$1/etc/apt/apt.conf.d/"
  done
  [ ! -d /usr/local/share/ca-certificates ] || cp -a /usr/local/share/ca-certificates/. "$1/usr/local/share/ca-certificates/"
  for file in /etc/pip.conf /etc/hosts /etc/resolv.conf; do
    [ ! -e "$file" ] || cp -L "$file" "$1/etc/"
  done
}

# The minimal system, made once and kept in the cache under its name when it is whole.
make_base() {
  local mirror made log="$base.log"
  [ "$(id -u)" = 0 ] || cannot "it takes root"
  unshare --mount --pid --fork true 2> /dev/null || cannot "this process may not mount (it takes CAP_SYS_ADMIN)"
  [ ! -e "$base" ] || return 0
  # The root's packages come from this machine's sources, which therefore have to be of the same release.
  grep -q "^VERSION_CODENAME=$release$" /etc/os-release || cannot "this system isn't Debian 12 ($release)"
  mkdir -p "$(dirname "$base")"
  command -v debootstrap > /dev/null || { apt-get -q update && apt-get -qy install debootstrap; } > "$log" 2>&1 ||
    cannot "debootstrap can't be installed (see $log)"
  # shellcheck disable=SC2016  # apt's own names
  mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null | grep -m 1 '/debian/*$')" || mirror=
  made="$(mktemp -d "$base.XXXXXX")"
  say "making a minimal Debian in $base"
  if debootstrap --variant=minbase "$release" "$made" ${mirror:+"$mirror"} > "$log" 2>&1 && take_settings "$made" &&
    chroot "$made" /bin/bash -c 'apt-get update -q && apt-get install -qy --no-install-recommends ca-certificates git &&
      update-ca-certificates && apt-get clean' >> "$log" 2>&1; then
    chmod 755 "$made"
    # Another process may have made it meanwhile.
    mv -T "$made" "$base" 2> /dev/null || rm -rf --one-file-system "$made"
    [ -e "$base" ] || cannot "$base can't be made"
  else
    rm -rf --one-file-system "$made"
    cannot "debootstrap failed (see $log)"
  fi
}

# mount_and_run ROOT COMMAND: in a namespace of its own, so that every mount and every process goes when it ends.
mount_and_run() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --mount --pid --fork --kill-child bash -euc '
    root="$0"
    mount -t proc proc "$root/proc"
    mount -t sysfs sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" 2> /dev/null || true
    if [ -n "${FRESH_CCACHE:-}" ]; then mount --bind "$FRESH_CCACHE" "$root/root/.cache/ccache"; fi
    if [ -n "${FRESH_SHARE:-}" ]; then mount --bind -o ro "$FRESH_SHARE" "$root/root/share"; fi
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      SSL_CERT_FILE="$2" PIP_CERT="$2" REQUESTS_CA_BUNDLE="$2" bash -c "cd /root/project && $1"' "$1" "$2" "$certificates" < /dev/null
}

if [ "${1:-}" = --ready ]; then
  make_base
  exit
fi
[ $# -gt 0 ] || set -- './tools/demo.sh' 'CI=true ./tools/test.sh'
make_base

root="$(mktemp -d "${TMPDIR:-/var/tmp}/fresh.XXXXXX")"
leave() {
  if [ -n "${FRESH_KEEP:-}" ]; then say "the root is $root"; else rm -rf --one-file-system "$root"; fi
}
trap leave EXIT
cp -a "$base/." "$root/"
git clone -q . "$root/root/project"
if [ -n "${FRESH_CCACHE:-}" ]; then
  mkdir -p "$FRESH_CCACHE" "$root/root/.cache/ccache" "$root/root/.config/ccache"
  printf 'max_size = 5G\ncompiler_check = content\nhash_dir = false\n' > "$root/root/.config/ccache/ccache.conf"
  mount_and_run "$root" 'apt-get -q update && apt-get -qy install --no-install-recommends ccache' > "$root/ccache.log" 2>&1 ||
    { tail -n 5 "$root/ccache.log" >&2; die "ccache can't be installed in the root"; }
fi
[ -z "${FRESH_SHARE:-}" ] || mkdir -p "$root/root/share"

for command in "$@"; do
  start=$SECONDS status=0
  say "in a bare Debian: $command"
  mount_and_run "$root" "$command" || status=$?
  say "$command: exit $status after $((SECONDS - start)) s"
  [ "$status" -eq 0 ] || exit "$status"
done
