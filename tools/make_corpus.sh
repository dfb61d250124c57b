#!/usr/bin/env bash
# Makes again what the tests read of PyTorch without PyTorch. Simulated: the driver below is the software device.
#
#   tools/make_corpus.sh           testdata/torch-allocator: random programs, under every setting of tests/clients/allocator.py,
#                                  with each version of PyTorch that tools/test.sh --clients fetches; and the scenarios
#   tools/make_corpus.sh scenarios  testdata/torch-scenarios and torch-traces: programs and the findings that they expect
#   tools/make_corpus.sh cuda      the scenarios on the GPU that is here, in build/torch-scenarios-cuda: their findings are
#                                  compared with what they expect, and their traces with those of the software device
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/python.sh
. tools/setup/clients.sh

tools/setup.sh build
configure build release
build_or_fail build trace_parts

# scenarios DEVICE FOLDER PROGRAM...: with the newest PyTorch.
scenarios() {
  local device="$1" folder="$2"
  shift 2
  python3 tests/clients/record.py --build build --python "$(client_python torch)" --device "$device" --out "$folder" "$@"
}

case "${1:-all}" in
  all) ;;
  scenarios | cuda) want_client torch torch numpy ;;&
  scenarios)
    scenarios soft testdata/torch-scenarios testdata/clients/*.py
    # shellcheck disable=SC2046  # names without spaces
    scenarios soft testdata/torch-traces $(grep -l '^# graphkit: ' tests/clients/torch/*.py)
    exit
    ;;
  cuda)
    scenarios cuda build/torch-scenarios-cuda testdata/clients/*.py
    for trace in build/torch-scenarios-cuda/*.json.zst; do
      build/bin/graphkit diff "testdata/torch-scenarios/$(basename "$trace")" "$trace" || true
    done
    exec python3 tests/clients/recorded.py build/bin/graphkit build/torch-scenarios-cuda testdata/clients
    ;;
  *) die "unknown corpus '$1'" "usage: tools/make_corpus.sh [scenarios | cuda]" ;;
esac

while read -r name packages <&3; do
  [[ "$name" == torch* ]] || continue
  # shellcheck disable=SC2086  # a list of words
  want_client "$name" $packages
  python="$(client_python "$name")"
  folder="testdata/torch-allocator/$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')"
  rm -rf "$folder"
  python3 tests/clients/allocator.py --build build --python "$python" --name "$name" --programs 2 --operations 250 --keep "$folder"
done 3< <(grep -v '^#' tools/setup/clients.txt)
tools/make_corpus.sh scenarios
