#!/usr/bin/env bash
# Makes testdata/torch-allocator again: what PyTorch's caching allocator did in random programs, under every setting of
# tests/clients/allocator.py, with each version of PyTorch that tools/test.sh --clients fetches. Simulated: the driver below is
# the software device.
#
#   tools/make_corpus.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/python.sh
. tools/setup/clients.sh

tools/setup.sh build
configure build release
build_or_fail build graphkit_cli graphkit_tracer soft_cuda soft_cuda_libraries
while read -r name packages <&3; do
  [[ "$name" == torch* ]] || continue
  # shellcheck disable=SC2086  # a list of words
  want_client "$name" $packages
  python="$(client_python "$name")"
  folder="testdata/torch-allocator/$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')"
  rm -rf "$folder"
  python3 tests/clients/allocator.py --build build --python "$python" --name "$name" --programs 2 --operations 250 --keep "$folder"
done 3< <(grep -v '^#' tools/setup/clients.txt)
