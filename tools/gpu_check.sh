#!/usr/bin/env bash
# Runs every workload on this machine's GPU and on the software device, compares what was recorded, and measures what
# the tracer adds to a capture. In two steps, because a GPU machine may have no network and none of our packages:
#
#   tools/gpu_check.sh pack        where graphkit builds: puts a relocatable tree into .gpu/ (programs, plugins, libraries)
#   tools/gpu_check.sh run [OUT]   where the GPU is: needs .gpu/, python3 and a driver; writes into OUT (gpu_check_out)
#   tools/gpu_check.sh dry [OUT]   the same without a GPU: the software device stands in for it, to try the script
#
# OUT holds report.md (a table of differences and of overhead), the traces of both devices and the differences themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup/talk.sh

readonly workloads=(fork_join explicit_graph changed_nodes record_stream leaky programmatic invalidated threads big_capture
  inference_server training_step)
readonly tree=.gpu

# The libraries that the program needs beyond the C++ and C runtimes are carried beside it.
pack() {
  cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRAPHKIT_GRAPHVIZ=OFF -DGRAPHKIT_TESTS=OFF \
    -DCMAKE_EXE_LINKER_FLAGS='-static-libstdc++ -static-libgcc' > /dev/null
  cmake --build build-gpu
  rm -rf "$tree"
  cmake --install build-gpu --prefix "$tree" > /dev/null
  cp -r build-gpu/workloads "$tree/workloads"
  nvcc="$(sed -n 's/^GRAPHKIT_NVCC:[A-Z]*=//p' build-gpu/CMakeCache.txt)"
  "$nvcc" -std=c++17 -O2 -cudart shared -arch=sm_90 -I . -o "$tree/workloads/capture_loop" tests/bench/capture_loop.cu
  mkdir -p "$tree/lib/carried"
  ldd "$tree/bin/graphkit" | awk '/simdjson|zstd/ {print $3}' | xargs -r cp -t "$tree/lib/carried"
  say "packed into $tree/: $(du -sh "$tree" | cut -f 1)"
}

# record DEVICE WORKLOAD: a trace in OUT/DEVICE, and how the program ended.
record() {
  local code=0
  mkdir -p "$out/$1"
  timeout 120 "$tree/bin/graphkit" trace --device "$1" -o "$out/$1/$2.json" "$tree/workloads/$2" \
    > "$out/$1/$2.stdout" 2> "$out/$1/$2.stderr" || code=$?
  printf '%s' "$code"
}

normalised() {
  python3 -c 'import sys; sys.path.insert(0, "tests/e2e"); import normalise
print(normalise.normalise(open(sys.argv[1]).read()))' "$1" > "$2" 2> "$2.error" || printf 'no trace\n' > "$2"
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

# The median of five runs of capture_loop, in nanoseconds per node.
loop() {
  local prefix=()
  [ "$device" = soft ] && prefix=(env "LD_LIBRARY_PATH=$tree/lib/graphkit/soft_cuda")
  [ "$1" = traced ] && prefix=("$tree/bin/graphkit" trace --device "$device" -o "$out/loop.json")
  for _ in 1 2 3 4 5; do "${prefix[@]}" "$tree/workloads/capture_loop" 100000 "$2" 2> /dev/null; done | sort -n | sed -n 3p
}

run() {
  [ -x "$tree/bin/graphkit" ] || die "there is no $tree/" "make it with 'tools/gpu_check.sh pack' where graphkit builds"
  export LD_LIBRARY_PATH="$PWD/$tree/lib/carried${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  mkdir -p "$out"
  {
    printf '# What %s recorded\n\n' "$([ "$device" = cuda ] && echo 'a GPU' || echo 'the software device, in place of a GPU: a dry run, simulated')"
    "$tree/bin/graphkit" doctor || true
    printf '\n| workload | exit code | on the software device | lines that differ |\n|---|---|---|---|\n'
    for name in "${workloads[@]}"; do compare "$name"; done
    printf '\n| capturing threads | ns per node | traced |\n|---|---|---|\n'
    for threads in 1 4; do printf '| %s | %s | %s |\n' "$threads" "$(loop plain "$threads")" "$(loop traced "$threads")"; done
  } | tee "$out/report.md"
}

out="${2:-gpu_check_out}"
case "${1:-}" in
  pack) pack ;;
  run) device=cuda && run ;;
  dry) device=soft && run ;;
  *) die "say what to do" "usage: tools/gpu_check.sh pack | run [OUT] | dry [OUT]" ;;
esac
