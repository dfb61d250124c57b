#!/usr/bin/env bash
# Runs every workload on this machine's GPU and on the software device, compares what was recorded, and measures what
# the tracer adds to a capture. In two steps, because a GPU machine may have no network and none of our packages:
#
#   tools/gpu_check.sh pack                where graphkit builds: puts a relocatable tree into .gpu/ (programs, plugins, libraries)
#   tools/gpu_check.sh run [OUT [PART…]]   where the GPU is: needs .gpu/, python3 and a driver; writes into OUT (gpu_check_out)
#   tools/gpu_check.sh dry [OUT [PART…]]   the same without a GPU: the software device stands in for it, to try the script
#
# Parts, where a machine is lent for a few minutes at a time: device, graphs, costs, programs, clients; all of them unless named.
# Of clients a folder can be named: clients:torch.
#
# Programs by others (PyTorch, Triton, NCCL, JAX, CuPy: tools/gpu_check/programs.py) run where they are installed, and
# are skipped visibly where not. What was recorded is executed again under planned placements, and the model of PyTorch's
# allocator is held against snapshots of it (tools/gpu_check/snapshots.py). OUT/report.md has tables of what differs and
# of what tracing costs; OUT/results.tar.gz the traces of both devices, their differences, and what every program said.
# A program that takes longer than a minute is ended, and said to have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh
. tools/setup/build.sh

readonly workloads=(fork_join explicit_graph changed_nodes record_stream leaky programmatic invalidated threads big_capture
  inference_server training_step every_way)
readonly tree=.gpu graphkit=.gpu/cudagraphkit/bin/graphkit
library=() # runs a program on the software device, in a dry run

# The wheel, unpacked, and the programs of the tests, as tools/test.sh builds them. The GPU machine needs no library of ours.
pack() {
  local nvcc toolkit name
  tools/setup.sh build test wheel
  configure build release
  build build all bench_programs || die "build does not build" "see the compiler's lines above"
  nvcc="$(sed -n 's/.*graphkit: CUDA headers .*, nvcc \(.*\)$/\1/p' build/configure.log)"
  [ -x "$nvcc" ] || die "there is no nvcc" "tools/setup.sh brings one"
  toolkit="$(dirname "$(dirname "$(readlink -f "$nvcc")")")"
  rm -rf "$tree"
  tools/wheel.sh "$tree/dist"
  python3 -m zipfile -e "$tree"/dist/*.whl "$tree"
  rm -r "$tree/dist"
  chmod +x "$tree/cudagraphkit/bin/graphkit"
  mkdir -p "$tree/workloads" "$tree/conformance" "$tree/callbacks"
  find build/workloads -maxdepth 1 -type f ! -name '*.o' -exec cp -t "$tree/workloads" {} +
  cp build/bench/capture_loop build/bench/api_calls build/tests/{every_way,copies,measured} "$tree/workloads"
  cp build/tests/random_graphs13/random_graphs "$tree/workloads"
  for name in $(conformance_names) callback_order callback_holders graph_drawings; do
    strip -o "$tree/conformance/$name" "build/tests/soft_cuda/$name"
  done
  for name in tools/gpu_check/empty_callbacks tests/plugins/soft_cuda/callback_log; do
    g++ -std=c++20 -O2 -shared -fPIC -static-libgcc -static-libstdc++ -I "$toolkit/include" \
      -I "$toolkit/extras/CUPTI/include" -o "$tree/callbacks/$(basename "$name").so" "$name.cpp" -ldl
  done
  say "packed into $tree/: $(du -sh "$tree" | cut -f 1)"
}

# The programs that hold the software device to CUDA's documentation.
conformance_names() { sed -n 's/^  \([a-z_]*\))\{0,1\}$/\1/p' tests/plugins/soft_cuda/programs.cmake | sort -u; }

# record DEVICE WORKLOAD: a trace in OUT/DEVICE, and how the program ended.
record() {
  local code=0
  mkdir -p "$out/$1"
  timeout 60 "$graphkit" trace --device "$1" -o "$out/$1/$2.json" "$tree/workloads/$2" \
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

# The order of callbacks, against the expected one.
callbacks() {
  local name gpu=()
  [ "$device" = soft ] || gpu=(--gpu)
  mkdir -p "$out/callbacks"
  printf '\n| order of callbacks | lines that differ |\n|---|---|\n'
  for name in callback_order callback_holders; do
    "${library[@]}" timeout 60 python3 tests/plugins/soft_cuda/run_logged.py "$tree/conformance/$name" \
      "$tree/callbacks/callback_log.so" "tests/plugins/soft_cuda/$name.expected" "${gpu[@]}" > "$out/callbacks/$name.diff" 2>&1 || true
    printf '| %s | %s |\n' "$name" "$(grep -c '^[-+][^-+]' "$out/callbacks/$name.diff" || true)"
  done
}

# Each conformance program, untraced: the checks that the device fails. 77: it needs the software device.
conformance() {
  local name code
  mkdir -p "$out/conformance"
  printf '\n| conformance program | exit code | checks that fail |\n|---|---|---|\n'
  for name in $(conformance_names); do
    code=0
    "${library[@]}" timeout 30 stdbuf -oL "$tree/conformance/$name" > "$out/conformance/$name.out" 2>&1 || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] ||
      printf '| %s | %s | %s |\n' "$name" "$code" "$(grep -c '^[^ ]*\.\(cu\|h\):[0-9]*: ' "$out/conformance/$name.out" || true)"
  done
  printf '\n%s of %s programs conform, %s need the software device\n' \
    "$(grep -lx '[a-z_]*: conforms' "$out/conformance"/*.out | wc -l)" "$(conformance_names | wc -l)" \
    "$(grep -l ': skipped, ' "$out/conformance"/*.out | wc -l)"
}

# Answers to open questions of docs/hardware.md: the driver's drawings, the edges of a capture, the memory of executables.
questions() {
  local name code
  mkdir -p "$out/drawings" "$out/measured"
  printf '\n| question | exit code |\n|---|---|\n'
  code=0
  "${library[@]}" timeout 60 "$tree/conformance/graph_drawings" "$out/drawings" > "$out/drawings/said" 2>&1 || code=$?
  printf '| drawings | %s |\n' "$code"
  for name in clone body edges; do
    code=0
    timeout 60 "$graphkit" trace --device "$device" -o "$out/measured/copies_$name.json" "$tree/workloads/copies" "$name" \
      > "$out/measured/copies_$name.out" 2>&1 || code=$?
    printf '| copies %s | %s |\n' "$name" "$code"
  done
  code=0
  timeout 60 "$graphkit" trace --device "$device" --measure-execs -o "$out/measured/execs.json" "$tree/workloads/measured" \
    > "$out/measured/execs.out" 2>&1 || code=$?
  "$graphkit" analyze --format json "$out/measured/execs.json" > "$out/measured/execs_analyzed.json" || true
  printf '| memory of executables | %s |\n' "$code"
}

# Which first call makes device 0's context active, on both devices.
contexts() {
  python3 tools/gpu_check/contexts.py > "$out/contexts" 2>&1 || true
  LD_LIBRARY_PATH="$tree/cudagraphkit/lib/graphkit/soft_cuda" python3 tools/gpu_check/contexts.py > "$out/contexts.soft" 2>&1 || true
  printf '\n| the first call, its result and the context | on the software device |\n|---|---|\n'
  paste "$out/contexts" "$out/contexts.soft" | sed 's/\t/ | /; s/.*/| & |/'
}

# Random programs: what the trace says of their graphs, against what CUDA's API told them.
random_programs() {
  local seed one
  mkdir -p "$out/random"
  printf '\n| random programs | exit code | trace against API |\n|---|---|---|\n'
  for seed in 1 11 21 31 41 51 61 71 81 91; do
    random_program "$seed" 10 && continue
    for ((one = seed; one < seed + 10; ++one)); do random_program "$one" 1 || true; done
  done
}

# random_program SEED COUNT: 1 if it doesn't end well. Where it doesn't, it is run once more untraced.
random_program() {
  local said="$out/random/$1.$2" code=0 untraced=""
  timeout 60 "$graphkit" trace --device "$device" -o "$said.json" "$tree/workloads/random_graphs" \
    --seed "$1" --count "$2" > "$said.dump" 2> "$said.stderr" || code=$?
  python3 tests/plugins/cupti_tracer/random_graphs/random_graphs.py --trace "$said.json" --dump "$said.dump" \
    > "$said.txt" 2>&1 || true
  if [ "$code" -ne 0 ]; then
    "${library[@]}" timeout 60 "$tree/workloads/random_graphs" --seed "$1" --count "$2" > "$said.untraced" 2>&1 || untraced=$?
    untraced=", untraced ${untraced:-0}"
  fi
  printf '| %s to %s | %s | %s |\n' "$1" "$(($1 + $2 - 1))" "$code$untraced" "$(head -n 1 "$said.txt")"
  [ "$code" -eq 0 ]
}

# within HOW PROGRAM...: runs it untraced (plain), with a CUPTI whose callbacks do nothing (empty), traced, or traced
# with --scope all.
within() {
  local how="$1" prefix=()
  shift
  [ "$device" = soft ] && prefix=("${library[@]}")
  case "$how" in
    empty) prefix+=(env "CUDA_INJECTION64_PATH=$PWD/$tree/callbacks/empty_callbacks.so") ;;
    traced) prefix=("$graphkit" trace --device "$device" -o "$out/within.json") ;;
    all) prefix=("$graphkit" trace --device "$device" --scope all -o "$out/within.json") ;;
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

# A captured step of PyTorch, call by call in turn with the same process untraced, with PyTorch's history alone, and with
# the tracer without it.
step_cost() {
  local step=(python3 tests/bench/torch_step.py --serve) trace=("$graphkit" trace --device "$device")
  python3 -c 'import torch' 2> /dev/null || return 0
  printf '\n```\n'
  timeout 120 python3 tests/bench/in_turn.py 60 "untraced=${step[*]}" "history=${step[*]} --history all" \
    "traced=${trace[*]} -o $out/step.json -- ${step[*]}" "traced without history=${trace[*]} --no-torch -o $out/step2.json -- ${step[*]}" \
    2> "$out/step.stderr" || tail -n 3 "$out/step.stderr"
  printf '```\n'
  rm -f "$out"/step*.json
}

# Programs by others. What they need is installed or not: 77 is said as such.
others() {
  local name code trace
  printf '\n| program | exit code | nodes | launches | capture, replay (s) | traced |\n|---|---|---|---|---|---|\n'
  for name in $(python3 tools/gpu_check/programs.py); do
    mkdir -p "$out/others"
    trace="$out/others/$name.json" code=0
    timeout 60 "$graphkit" trace --device "$device" -o "$trace" python3 tools/gpu_check/programs.py "$name" \
      > "$out/others/$name.stdout" 2> "$out/others/$name.stderr" || code=$?
    if [ "$code" -eq 77 ]; then
      printf '| %s | skipped: %s | | | | |\n' "$name" "$(sed -n 's/^skipped: //p' "$out/others/$name.stderr" | head -n 1)"
      continue
    fi
    printf '| %s | %s | %s | %s | %s | %s |\n' "$name" "$code" "$(grep -c '"type":"node"' "$trace" 2> /dev/null)" \
      "$(grep -c '"type":"launch"' "$trace" 2> /dev/null)" \
      "$(within plain python3 tools/gpu_check/programs.py "$name" --time | tail -n 1)" \
      "$(within traced python3 tools/gpu_check/programs.py "$name" --time | tail -n 1)"
    "$graphkit" analyze "$trace" > "$out/others/$name.txt" 2>&1 || true
  done
}

# torch.profiler, untraced and beside the tracer, which lets go of CUPTI or keeps it.
profiles() {
  local how code said
  mkdir -p "$out/profiles"
  printf '\n| torch.profiler | exit code | in the profile | launches in the trace |\n|---|---|---|---|\n'
  for how in untraced release keep; do
    said="$out/profiles/$how" code=0
    if [ "$how" = untraced ]; then within plain python3 tools/gpu_check/profiled.py "$said.profile.json" > "$said.txt" || code=$?
    else
      GRAPHKIT_TRACE_PROFILER="$how" timeout 60 "$graphkit" trace --device "$device" -o "$said.json" \
        python3 tools/gpu_check/profiled.py "$said.profile.json" > "$said.txt" 2> "$said.stderr" || code=$?
    fi
    printf '| %s | %s | %s | %s |\n' "$how" "$code" "$(tail -n 1 "$said.txt")" \
      "$({ grep '"type":"launch"' "$said.json" || true; } 2> /dev/null | sed -n 's/.*"correlation":\([0-9]*\).*/\1/p' | paste -s -d ' ')"
  done
}

# The tests' own client programs that can run here, with what each expects of its trace, several at once.
clients() {
  local folder kept
  printf '\n| program | result |\n|---|---|\n'
  for folder in ${client_folders:-tests/clients/{torch,jax,cupy,cuda_python,training,sglang,transformer_engine,vllm} testdata/clients}; do
    kept="$out/clients/$(basename "$folder")"
    mkdir -p "$kept"
    python3 tools/gpu_check/here.py "$folder" "$(gpus)" 2> "$kept/left_out" |
      xargs -P "$(nproc)" -I NAME timeout 150 python3 tests/clients/run.py --graphkit "$graphkit" --device "$device" \
        --python "$(command -v python3)" --name gpu --keep "$kept" "$folder" NAME |
      sed -n 's/^\(passed\|FAILED\|skipped\) gpu \([^:]*\)\(.*\)/| \2 | \1\3 |/p' || true
    sed 's/\(.*\) needs \(.*\)/| \1 | left out, needs \2 |/' "$kept/left_out"
  done
}

gpus() {
  local count
  count="$({ nvidia-smi --list-gpus || true; } 2> /dev/null | grep -c ^GPU)" || true
  echo "$((count > 0 ? count : 1))"
}

# The recorded graphs run again under two placements, with real memory and canaries.
executions() {
  local name code
  mkdir -p "$out/executions"
  printf '\n| recorded workload, executed again | exit code | |\n|---|---|---|\n'
  for name in "${workloads[@]}"; do
    [ -s "$out/$device/$name.json" ] || continue
    code=0
    timeout 60 "$graphkit" replay "$out/$device/$name.json" --allocator reuse,optimal --execute "$device" \
      > "$out/executions/$name.txt" 2>&1 || code=$?
    printf '| %s | %s | %s |\n' "$name" "$code" "$(grep -E ': executed|^graphkit: ' "$out/executions/$name.txt" | paste -s -d ';')"
  done
}

# One block of a plan is moved onto another that needs its memory: an execution finds it.
wrong_plans() {
  local name
  printf '\n| recorded workload | wrong plans found by executing them |\n|---|---|\n'
  for name in "${workloads[@]}"; do
    [ -s "$out/$device/$name.json" ] || continue
    printf '| %s | %s |\n' "$name" "$(timeout 60 python3 tools/gpu_check/wrong_plans.py "$graphkit" "$device" \
      "$out/$device/$name.json" "$out/executions" 2>&1 | tail -n 1)"
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
    [ "$code" -ne 0 ] || timeout 60 "$graphkit" replay "$out/snapshots/$name.pickle" --against-recorded \
      > "$text" 2>&1 || code=$?
    printf '| %s | %s | %s |\n' "$name" "$code" "$(tail -n 4 "$text" | paste -s -d ';')"
  done
}

run() {
  [ -x "$graphkit" ] || die "there is no $tree/" "make it with 'tools/gpu_check.sh pack' where graphkit builds"
  [ "$device" = cuda ] || library=(env "LD_LIBRARY_PATH=$tree/cudagraphkit/lib/graphkit/soft_cuda")
  report="$out/report.md" results="$out/results.tar.gz" out="$out/results"
  rm -rf "$out"
  mkdir -p "$out"
  local part
  {
    printf '# What %s recorded\n\n' "$([ "$device" = cuda ] && echo 'a GPU' || echo 'the software device, in place of a GPU: a dry run, simulated')"
    { nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true; } 2> /dev/null
    "$graphkit" doctor || true
    for part in $parts; do "$part"; done
  } 2>&1 | tee "$report"
  rm -f "$out/within.json"
  tar -C "$(dirname "$out")" -czf "$results" "$(basename "$out")"
  rm -rf "$out"
}

# part NAME: the functions that it consists of.
part() {
  case "$1" in
    device) echo callbacks conformance questions contexts ;;
    graphs) echo compare_all random_programs executions wrong_plans ;;
    costs) echo capture_cost call_cost step_cost ;;
    programs) echo snapshots others profiles ;;
    clients) echo clients ;;
    clients:*)
      [ -d "tests/clients/${1#*:}" ] || die "there is no folder tests/clients/${1#*:}" "ls tests/clients lists them"
      echo clients ;;
    *) die "there is no part '$1'" "parts: device graphs costs programs clients" ;;
  esac
}

command="${1:-}" out="${2:-gpu_check_out}" parts=""
[ $# -gt 2 ] || set -- "$command" "$out" device graphs costs programs clients
client_folders="" # all of them
for name in "${@:3}"; do
  parts+=" $(part "$name")"
  [[ "$name" != clients:* ]] || client_folders="tests/clients/${name#*:}"
done
case "$command" in
  pack) pack ;;
  run) device=cuda && run ;;
  dry) device=soft && run ;;
  *) die "say what to do" "usage: tools/gpu_check.sh pack | run [OUT [PART…]] | dry [OUT [PART…]]" ;;
esac
