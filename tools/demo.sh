#!/usr/bin/env bash
# From a fresh clone to a drawn CUDA graph: installs what is missing, builds, traces an example program, analyzes
# the trace and draws it. Safe to run again; with nothing to do it takes seconds. Needs no GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh

# shown COMMAND...: runs it after printing it as one would type it.
shown() {
  printf '\n$ %s\n' "$*"
  "$@"
}

tools/setup.sh build
[ -e build/CMakeCache.txt ] || configure build demo
build build demo || die "the build failed" "the compiler's message is above"
[ -x build/workloads/fork_join ] ||
  die "build/workloads/fork_join was not built, so there is nothing to trace" \
    "it needs CUDA 13: set GRAPHKIT_CUDA_ROOT to a toolkit, or run this where pip can fetch its wheels"

shown build/bin/graphkit trace -o trace.json build/workloads/fork_join
shown build/bin/graphkit analyze trace.json
shown build/bin/graphkit dot trace.json -o capture.svg

cat << 'END'

The program    build/bin/graphkit (try: build/bin/graphkit --help)
The trace      trace.json
The drawing    capture.svg (open it in a browser)
The example    testdata/workloads/fork_join.cu
What now       build/bin/graphkit trace ./your_program; build/bin/graphkit doctor
All of it      cmake --preset release && cmake --build build; ./tools/test.sh
END
