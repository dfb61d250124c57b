#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/setup
# Brings what graphkit needs and this machine lacks: Debian packages, and a CUDA 13 toolkit for the plugins.
# Safe to run again: with nothing missing it touches neither the network nor the system.
#
#   tools/setup.sh [build] [test] [wheel] [site] [lint] [fuzz] [mpi] [matrix] [aarch64] [web] [browser]     what is needed (default: build)
#
# `test` also brings CUDA 12 for the programs that are traced; `matrix` the headers of further CUDA versions.
set -euo pipefail
GRAPHKIT_SETUP="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/setup"
. "$GRAPHKIT_SETUP/talk.sh"
. "$GRAPHKIT_SETUP/packages.sh"
. "$GRAPHKIT_SETUP/cuda.sh"
. "$GRAPHKIT_SETUP/cuda12.sh"
. "$GRAPHKIT_SETUP/aarch64.sh"
. "$GRAPHKIT_SETUP/python.sh"
. "$GRAPHKIT_SETUP/web.sh"

for need in "$@"; do
  case "$need" in
    build | test | wheel | site | lint | fuzz | mpi | matrix | aarch64 | web | browser) ;;
    *) die "unknown need '$need'" "usage: tools/setup.sh [build] [test] [wheel] [site] [lint] [fuzz] [mpi] [matrix] [aarch64] [web] [browser]" ;;
  esac
done
[ "$*" = site ] || { need_packages build "$@" && want_toolkit; }
case " $* " in *" test "* | *" wheel "*) want_python python-package "the Python package" ;; esac
case " $* " in *" test "* | *" site "*) want_python site "the documentation as a site" ;; esac
case " $* " in *" test "*) want_toolkit12 ;; esac
case " $* " in *" matrix "*) want_headers ;; esac
case " $* " in *" aarch64 "*) need_packages cuda && want_aarch64 ;; esac
case " $* " in *" web "*) want_web ;; esac
