#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/setup
# Brings what graphkit needs and this machine lacks: Debian packages, and a CUDA 13 toolkit for the plugins.
# Safe to run again: with nothing missing it touches neither the network nor the system.
#
#   tools/setup.sh [build] [test] [fuzz]     what is needed (default: build)
set -euo pipefail
GRAPHKIT_SETUP="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/setup"
. "$GRAPHKIT_SETUP/talk.sh"
. "$GRAPHKIT_SETUP/packages.sh"
. "$GRAPHKIT_SETUP/cuda.sh"
. "$GRAPHKIT_SETUP/python.sh"

for need in "$@"; do
  case "$need" in
    build | test | fuzz) ;;
    *) die "unknown need '$need'" "usage: tools/setup.sh [build] [test] [fuzz]" ;;
  esac
done
need_packages build "$@"
want_toolkit
case " $* " in *" test "*) want_test_wheels ;; esac
