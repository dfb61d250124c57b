# shellcheck shell=bash
# How the scripts talk: progress on stderr, one line for an error, which ends the script.
# Sourced by the scripts in tools/.

say() { printf 'graphkit: %s\n' "$*" >&2; }

# die WHAT [WHAT TO DO]
die() {
  printf 'graphkit: error: %s%s\n' "$1" "${2:+; $2}" >&2
  exit 1
}

# Downloads and what is unpacked from them: outside the build, shared by all checkouts.
graphkit_cache() { printf '%s\n' "${GRAPHKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/graphkit}"; }

# The comment at the beginning of the script that sources this.
if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,${/^#/!q;/^# shellcheck/d;s/^# \{0,1\}//p}' "$(dirname "${BASH_SOURCE[0]}")/../$(basename "$0")"
  exit
fi
