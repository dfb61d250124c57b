#!/usr/bin/env bash
# A C++ compiler for extensions of PyTorch that are only run on the software device: without optimisation, and with PyTorch's
# headers, which are most of each file, compiled once, into the folder EXTENSION_WORK (clients.sh).
set -euo pipefail
[[ " $* " == *" -c "* ]] || exec g++ "$@"
flags=() skip=no
for word in "$@"; do
  if [ "$skip" = yes ]; then skip=no && continue; fi
  case "$word" in
    -MF | -o) skip=yes ;;
    -MMD | -c | *.cpp) ;;
    *) flags+=("$word") ;;
  esac
done
header="$EXTENSION_WORK/extension.h"
exec 9> "$EXTENSION_WORK/lock"
flock 9
if [ ! -e "$header.gch" ]; then
  printf '#include <torch/extension.h>\n#include <torch/torch.h>\n#include <ATen/cuda/CUDAContext.h>\n' > "$header"
  g++ "${flags[@]}" -O0 -g0 -x c++-header "$header" -o "$header.gch"
fi
exec 9>&-
exec g++ -include "$header" "$@" -O0 -g0
