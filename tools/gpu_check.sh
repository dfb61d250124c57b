#!/usr/bin/env bash
# Runs every workload on this machine's GPU and on the software device, compares what was recorded, and measures what
# the tracer adds to a capture. In two steps, because a GPU machine may have no network and none of our packages:
#
#   tools/gpu_check.sh pack                where graphkit builds: puts a relocatable tree into .gpu/ (programs, plugins, libraries)
#   tools/gpu_check.sh run [OUT [PART…]]   where the GPU is: needs .gpu/, python3 and a driver; writes into OUT (gpu_check_out)
#   tools/gpu_check.sh dry [OUT [PART…]]   the same without a GPU: the software device stands in for it, to try the script
#
# Parts, where a machine is lent for a few minutes at a time: graphs, costs, programs; all of them unless named.
#
# Programs by others (PyTorch, Triton, NCCL, JAX, CuPy: tools/gpu_check/programs.py) run where they are installed, and
# are skipped visibly where not. What was recorded is executed again under planned placements, and the model of PyTorch's
# allocator is held against snapshots of it (tools/gpu_check/snapshots.py). OUT/report.md has tables of what differs and
# of what tracing costs; OUT/results.tar.gz the traces of both devices, their differences, and what every program said.
# A program that takes longer than a minute is ended, and said to have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh

readonly workloads=(fork_join explicit_graph changed_nodes record_stream leaky programmatic invalidated threads big_capture
  inference_server training_step every_way)
readonly tree=.gpu

# The libraries that the program needs beyond the C++ and C runtimes are carried beside it.
pack() {
  local log=build-gpu/configure.log nvcc toolkit name
  mkdir -p build-gpu
  cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRAPHKIT_GRAPHVIZ=OFF -DGRAPHKIT_TESTS=OFF \
    -DGRAPHKIT_BENCHMARKS=OFF -DCMAKE_EXE_LINKER_FLAGS='-static-libstdc++ -static-libgcc' > "$log"
  nvcc="$(sed -n 's/.*graphkit: CUDA headers .*, nvcc \(.*\)$/\1/p' "$log")"
  [ -x "$nvcc" ] || die "there is no nvcc" "tools/setup.sh brings one"
  toolkit="$(dirname "$(dirname "$(readlink -f "$nvcc")")")"
  cmake --build build-gpu -j "${GRAPHKIT_JOBS:-$(nproc)}"
  rm -rf "$tree"
  cmake --install build-gpu --prefix "$tree" --strip > /dev/null
  cp -r build-gpu/workloads "$tree/workloads"
  for name in capture_loop api_calls; do
    "$nvcc" -std=c++17 -O2 -cudart shared -arch=sm_90 -I . -o "$tree/workloads/$name" "tests/bench/$name.cu"
  done
  "$nvcc" -std=c++17 -cudart shared -arch=sm_90 -I . -o "$tree/workloads/every_way" tests/plugins/cupti_tracer/every_way.cu
  "$nvcc" -std=c++20 -cudart shared -arch=sm_90 -I . -o "$tree/workloads/random_graphs" \
    tests/plugins/cupti_tracer/random_graphs/*.c*
  for name in callback_order callback_unseen programmatic capture_errors graph_memory; do
    "$nvcc" -std=c++17 -cudart shared -arch=sm_90 -I tests/plugins/soft_cuda -o "$tree/workloads/conform_$name" \
      "tests/plugins/soft_cuda/$name.cu" -Xlinker --as-needed \
      -L "$tree/lib/graphkit/soft_cuda" -l:libcuda.so.1
  done
  for name in tools/gpu_check/empty_callbacks tests/plugins/soft_cuda/callback_log; do
    g++ -std=c++20 -O2 -shared -fPIC -static-libgcc -static-libstdc++ -I "$toolkit/include" \
      -I "$toolkit/extras/CUPTI/include" -o "$tree/lib/graphkit/$(basename "$name").so" "$name.cpp" -ldl
  done
  mkdir -p "$tree/lib/carried"
  ldd "$tree/bin/graphkit" | awk '/simdjson|zstd|libz|sqlite/ {print $3}' | xargs -r cp -t "$tree/lib/carried"
  say "packed into $tree/: $(du -sh "$tree" | cut -f 1)"
}

# record DEVICE WORKLOAD: a trace in OUT/DEVICE, and how the program ended.
record() {
  local code=0
  mkdir -p "$out/$1"
  timeout 60 "$tree/bin/graphkit" trace --device "$1" -o "$out/$1/$2.json" "$tree/workloads/$2" \
    > "$out/$1/$2.stdout" 2> "$out/$1/$2.stderr" || code=$?
  printf '%s' "$code"
}

normalised() {
  python3 -c 'import sys; sys.path.insert(0, "tests/e2e"); import normalise
print(normalise.normalise(open(sys.argv[1]).read()))' "$1" > "$2" 2> "$2.error" || printf 'no trace\n' > "$2"
}

compare_all() {
  local name
  printf '\n| workload | exit code | on the software device | lines that differ |\n|---|---|---|---|\n'
  for name in "${workloads[@]}"; do compare "$name"; done
}

compare() {
  local name="$1" real soft lines
  real="$(record "$device" "$name")" soft="$(record soft "$name")"
  mkdir -p "$out/differences"
  normalised "$out/$device/$name.json" "$out/differences/$name.real"
  normalised "$out/soft/$name.json" "$out/differences/$name.soft"
  diff "$out/differences/$name.soft" "$out/differences/$name.real" > "$out/differences/$name.diff" || true
  lines="$(grep -c '^[<>]' "$out/differences/$name.diff" || true)"
  printf '| %s | %s | %s | %s |\n' "$name" "$real" "$soft" "$lines"
}

# The order of callbacks, against what is expected; and programs that ask the device about what is modelled without
# having been seen.
conformance() {
  local name code library=()
  [ "$device" = soft ] && library=(env "LD_LIBRARY_PATH=$tree/lib/graphkit/soft_cuda")
  mkdir -p "$out/conformance"
  printf '\n| question | lines that differ, or exit code |\n|---|---|\n'
  for name in callback_order callback_unseen; do
    "${library[@]}" timeout 60 python3 tests/plugins/soft_cuda/run_logged.py "$tree/workloads/conform_$name" \
      "$tree/lib/graphkit/callback_log.so" "tests/plugins/soft_cuda/$name.expected" > "$out/conformance/$name.diff" 2>&1 || true
    printf '| %s | %s lines |\n' "$name" "$(grep -c '^[-+][^-+]' "$out/conformance/$name.diff" || true)"
  done
  for name in programmatic capture_errors graph_memory; do
    code=0
    "${library[@]}" timeout 60 "$tree/workloads/conform_$name" > "$out/conformance/$name.out" 2>&1 || code=$?
    printf '| %s | exit code %s |\n' "$name" "$code"
  done
}

# Random programs: what the trace says of their graphs, against what CUDA's API told them.
random_programs() {
  local seed code said
  mkdir -p "$out/random"
  printf '\n| random programs | exit code | trace against API |\n|---|---|---|\n'
  for seed in 1 11 21 31 41 51 61 71 81 91; do
    said="$out/random/$seed" code=0
    timeout 60 "$tree/bin/graphkit" trace --device "$device" -o "$said.json" "$tree/workloads/random_graphs" \
      --seed "$seed" --count 10 > "$said.dump" 2> "$said.stderr" || code=$?
    python3 tests/plugins/cupti_tracer/random_graphs/random_graphs.py --trace "$said.json" --dump "$said.dump" \
      > "$said.txt" 2>&1 || true
    printf '| %s to %s | %s | %s |\n' "$seed" "$((seed + 9))" "$code" "$(head -n 1 "$said.txt")"
  done
}

# within HOW PROGRAM...: runs it untraced (plain), with a CUPTI whose callbacks do nothing (empty), traced, or traced
# with --scope all.
within() {
  local how="$1" prefix=()
  shift
  [ "$device" = soft ] && prefix=(env "LD_LIBRARY_PATH=$tree/lib/graphkit/soft_cuda")
  case "$how" in
    empty) prefix+=(env "CUDA_INJECTION64_PATH=$PWD/$tree/lib/graphkit/empty_callbacks.so") ;;
    traced) prefix=("$tree/bin/graphkit" trace --device "$device" -o "$out/within.json") ;;
    all) prefix=("$tree/bin/graphkit" trace --device "$device" --scope all -o "$out/within.json") ;;
  esac
  timeout 60 "${prefix[@]}" "$@" 2> "$out/within.stderr"
}

# The median of five runs of capture_loop, in nanoseconds per node.
loop() {
  for _ in 1 2 3 4 5; do within "$1" "$tree/workloads/capture_loop" 100000 "$2" || echo 0; done | sort -n | sed -n 3p
}

capture_cost() {
  printf '\n| capturing threads | ns per node | empty callbacks | traced | traced with --scope all |\n|---|---|---|---|---|\n'
  for threads in 1 4; do
    printf '| %s | %s | %s | %s | %s |\n' "$threads" "$(loop plain "$threads")" "$(loop empty "$threads")" \
      "$(loop traced "$threads")" "$(loop all "$threads")"
  done
}

# Each kind of call, a row, and how it ran, a column: nanoseconds.
call_cost() {
  local how
  for how in plain empty traced all; do within "$how" "$tree/workloads/api_calls" 5 > "$out/calls.$how" || true; done
  printf '\n| call | ns | empty callbacks | traced | traced with --scope all |\n|---|---|---|---|---|\n'
  python3 - "$out" << 'PYTHON'
import pathlib, re, sys
columns = []
for how in ("plain", "empty", "traced", "all"):
    text = (pathlib.Path(sys.argv[1]) / f"calls.{how}").read_text()
    columns.append(dict(re.findall(r"^(\S.*?)\s+(\d+)$", text, re.M)))
for call in columns[0]:
    print("|", call, "|", " | ".join(column.get(call, "") for column in columns), "|")
PYTHON
}

# Programs by others. What they need is installed or not: 77 is said as such.
others() {
  local name code trace
  printf '\n| program | exit code | nodes | launches | capture, replay (s) | traced |\n|---|---|---|---|---|---|\n'
  for name in $(python3 tools/gpu_check/programs.py); do
    mkdir -p "$out/others"
    trace="$out/others/$name.json" code=0
    timeout 60 "$tree/bin/graphkit" trace --device "$device" -o "$trace" python3 tools/gpu_check/programs.py "$name" \
      > "$out/others/$name.stdout" 2> "$out/others/$name.stderr" || code=$?
    if [ "$code" -eq 77 ]; then
      printf '| %s | skipped: %s | | | | |\n' "$name" "$(sed -n 's/^skipped: //p' "$out/others/$name.stderr" | head -n 1)"
      continue
    fi
    printf '| %s | %s | %s | %s | %s | %s |\n' "$name" "$code" "$(grep -c '"type":"node"' "$trace" 2> /dev/null)" \
      "$(grep -c '"type":"launch"' "$trace" 2> /dev/null)" \
      "$(within plain python3 tools/gpu_check/programs.py "$name" --time | tail -n 1)" \
      "$(within traced python3 tools/gpu_check/programs.py "$name" --time | tail -n 1)"
    "$tree/bin/graphkit" analyze "$trace" > "$out/others/$name.txt" 2>&1 || true
  done
}

# What was recorded runs again under two placements, with real memory and canaries.
executions() {
  local name code
  mkdir -p "$out/executions"
  printf '\n| recorded workload, executed again | exit code | |\n|---|---|---|\n'
  for name in "${workloads[@]}"; do
    [ -s "$out/$device/$name.json" ] || continue
    code=0
    timeout 60 "$tree/bin/graphkit" replay "$out/$device/$name.json" --allocator reuse,optimal --verify --execute "$device" \
      > "$out/executions/$name.txt" 2>&1 || code=$?
    printf '| %s | %s | %s |\n' "$name" "$code" "$(grep -E ': executed|^graphkit: ' "$out/executions/$name.txt" | paste -s -d ';')"
  done
}

# Snapshots of PyTorch's allocator, against the model of it.
snapshots() {
  local name code text
  printf '\n| snapshot | exit code | predicted |\n|---|---|---|\n'
  mkdir -p "$out/snapshots"
  for name in $(python3 tools/gpu_check/snapshots.py); do
    text="$out/snapshots/$name.txt" code=0
    timeout 60 python3 tools/gpu_check/snapshots.py "$name" "$out/snapshots/$name.pickle" > "$text" 2>&1 || code=$?
    if [ "$code" -eq 77 ]; then
      printf '| %s | skipped: %s | |\n' "$name" "$(sed -n 's/^skipped: //p' "$text" | head -n 1)"
      continue
    fi
    [ "$code" -ne 0 ] || timeout 60 "$tree/bin/graphkit" replay "$out/snapshots/$name.pickle" --allocator pytorch \
      --against-recorded > "$text" 2>&1 || code=$?
    printf '| %s | %s | %s |\n' "$name" "$code" "$(tail -n 4 "$text" | paste -s -d ';')"
  done
}

run() {
  [ -x "$tree/bin/graphkit" ] || die "there is no $tree/" "make it with 'tools/gpu_check.sh pack' where graphkit builds"
  export LD_LIBRARY_PATH="$PWD/$tree/lib/carried${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  report="$out/report.md" results="$out/results.tar.gz" out="$out/results"
  rm -rf "$out"
  mkdir -p "$out"
  local part
  {
    printf '# What %s recorded\n\n' "$([ "$device" = cuda ] && echo 'a GPU' || echo 'the software device, in place of a GPU: a dry run, simulated')"
    { nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true; } 2> /dev/null
    "$tree/bin/graphkit" doctor || true
    for part in $parts; do "$part"; done
  } 2>&1 | tee "$report"
  rm -f "$out/within.json"
  tar -C "$(dirname "$out")" -czf "$results" "$(basename "$out")"
  rm -rf "$out"
}

# part NAME: the functions that it consists of.
part() {
  case "$1" in
    graphs) echo compare_all conformance random_programs executions ;;
    costs) echo capture_cost call_cost ;;
    programs) echo snapshots others ;;
    *) die "there is no part '$1'" "parts: graphs costs programs" ;;
  esac
}

command="${1:-}" out="${2:-gpu_check_out}" parts=""
[ $# -gt 2 ] || set -- "$command" "$out" graphs costs programs
for name in "${@:3}"; do parts+=" $(part "$name")"; done
case "$command" in
  pack) pack ;;
  run) device=cuda && run ;;
  dry) device=soft && run ;;
  *) die "say what to do" "usage: tools/gpu_check.sh pack | run [OUT [PART…]] | dry [OUT [PART…]]" ;;
esac
