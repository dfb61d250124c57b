#!/usr/bin/env bash
# Installs what the tests need, builds, and runs all tests: in the ordinary build, then under AddressSanitizer and
# UndefinedBehaviorSanitizer; and the Python package. Needs no GPU. Exits 1 when any test failed. With CI=true a test that is
# skipped for lack of something is a failure, as the set-up should have brought it.
#
#   tools/test.sh          what every change must pass; with CI=true also a third of clang, clang-tidy or the documentation's
#                          commands, in turn
#   tools/test.sh --all    and ThreadSanitizer for the threaded tests, clang, clang-tidy, long random cross-checks, fuzzing; the HTML
#                          report and the page that shows any file in Chromium, where that can be had; jobs of Open MPI; the
#                          wheel for aarch64, emulated; the documentation's commands, in a bare Debian where tools/fresh.sh can
#                          make one
#   tools/test.sh --all PART...         only these: threads clang random sdist browser mpi aarch64 fuzz docs
#   tools/test.sh --clients [NAME...]   programs of PyTorch, newest and 2.8, JAX, numba-cuda, cuda.core and CuPy, which it fetches
#                          (gigabytes, kept in the cache), PyTorch's own tests, and NVIDIA's samples; NAME: only those of
#                          tools/setup/clients.txt, torch-tests or samples;
#                          frameworks [NAME...]: vLLM, SGLang and training stacks (tools/setup/frameworks.txt, 10 GB more)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
GRAPHKIT_SETUP="$PWD/tools/setup"
. tools/setup/talk.sh
. tools/setup/build.sh
. tools/setup/cuda.sh
. tools/setup/python.sh
. tools/setup/cuda12.sh
. tools/setup/clients.sh
. tools/setup/aarch64.sh
. tools/setup/web.sh

passed=0 failed=0 skipped=0 failures_again=
all=no clients=no
case "${1:-}" in
  "") ;;
  --all) all=yes ;;
  --clients) clients=yes ;;
  *) die "unknown option '$1'" "usage: tools/test.sh [--all [PART...] | --clients [NAME... | frameworks [NAME...]]]" ;;
esac

# What --all adds, each by its name: a part, and the function that runs it.
readonly part_names=(threads clang random sdist browser mpi aarch64 fuzz docs)
readonly -A parts=([threads]=threads [clang]=clang_build [random]=long_random [sdist]=python_sdist [browser]=in_browser
  [mpi]=mpi_jobs [aarch64]=aarch64_wheel [fuzz]=fuzz [docs]=documented_commands)
if [ "$all" = yes ]; then
  for name in "${@:2}"; do
    [ -n "${parts[$name]:-}" ] || die "there is no part '$name'" "parts: ${part_names[*]}"
  done
fi

# part NAME: runs it and prints its results.
part() {
  local before=("$passed" "$failed" "$skipped") begin=$SECONDS
  "${parts[$1]}"
  say "$1: $((passed - before[0])) passed, $((failed - before[1])) failed, $((skipped - before[2])) skipped in $((SECONDS - begin)) s"
}

# count ATTRIBUTE FILE: an attribute of the test suite in ctest's JUnit file, which has one on a line.
count() {
  local number
  number="$(sed -n "s/^[[:space:]]*$1=\"\([0-9][0-9]*\)\"$/\1/p" "$2" | head -n 1)"
  printf '%s\n' "${number:-0}"
}

# failures_of FILE: the end of what each failed test of ctest printed, by its JUnit file.
failures_of() {
  python3 - "$1" << 'END'
import sys
import xml.etree.ElementTree as ElementTree

for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    if case.get("status") == "fail":
        text = (case.findtext("system-out") or "").strip().split("\n")
        named = [line for line in text[:-25] if line.startswith("FAILED")]
        print(f"\n{case.get('name')} failed in {sys.argv[1]}:", *named, *text[-25:], sep="\n")
END
}

# lacking NUMBER WHAT: tests that weren't run for lack of something.
lacking() {
  [ "$1" -gt 0 ] || return 0
  say "not run: $2"
  if [ -n "${CI:-}" ]; then failed=$((failed + $1)); else skipped=$((skipped + $1)); fi
}

# run_tests FOLDER CTEST ARGUMENT...: runs them and adds up the results. ctest names those that failed or skipped.
run_tests() {
  local folder="$1" report tests failures skips status=0
  shift
  report="$PWD/$folder/junit.xml"
  rm -f "$report"
  ctest --test-dir "$folder" -j "$(build_jobs)" --output-on-failure --no-tests=ignore --timeout 600 \
    --output-junit "$report" "$@" || status=$?
  if [ ! -s "$report" ]; then
    [ "$status" -eq 0 ] || failed=$((failed + 1))
    return 0
  fi
  tests="$(count tests "$report")" failures="$(count failures "$report")"
  skips=$(($(count skipped "$report") + $(count disabled "$report")))
  [ "$status" -ne 0 ] && [ "$failures" -eq 0 ] && failures=1 tests=$((tests + 1))
  passed=$((passed + tests - failures - skips)) failed=$((failed + failures))
  [ "$failures" -eq 0 ] || failures_again+="$(failures_of "$report")"$'\n'
  lacking "$skips" "$skips tests in $folder, which ctest names above"
}

# build_or_fail FOLDER [TARGET...]: a build that fails counts as one failed test.
build_or_fail() {
  build "$@" && return 0
  say "$1 does not build"
  failed=$((failed + 1))
  return 1
}

ordinary() {
  configure build "$([ -n "${CI:-}" ] && echo ci || echo release)"
  if build_or_fail build all bench_programs; then run_tests build -LE 'browser|tidy'; fi
}

# python_tests FOLDER WHEEL: installs the wheel into FOLDER and tests it there, on the software device that it brings.
python_tests() {
  local folder="$PWD/$1" python report soft status=0
  python="$(package_python)/bin/python" report="$folder/junit.xml" soft="$folder/site/cudagraphkit/lib/graphkit/soft_cuda"
  "$python" -m pip install -q --no-deps --no-index --upgrade --target "$folder/site" "$2" || return 1
  rm -f "$report"
  LD_LIBRARY_PATH="$soft${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PYTHONPATH="$folder/site" \
    GRAPHKIT_SOFT_CUDA="$(find "$soft" -name 'libcudart.so.13' 2> /dev/null || true)" \
    "$python" -m pytest -q -p no:cacheprovider --junitxml "$report" tests/plugins/python || status=$?
  # One line has the totals: <testsuite … errors="0" failures="0" skipped="0" tests="24" …>
  attribute() { sed -n "s/.*<testsuite [^>]*$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }
  [ -s "$report" ] || return 1
  local tests bad skips
  tests="$(attribute tests)" bad=$(($(attribute failures) + $(attribute errors))) skips="$(attribute skipped)"
  [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1 tests=$((tests + 1))
  passed=$((passed + tests - bad - skips)) failed=$((failed + bad))
  lacking "$skips" "$skips tests of the Python package, which pytest counts above"
}

# python_wheel FOLDER SOURCE [SETTING...]: a wheel in FOLDER, of plugins/python or of an sdist.
python_wheel() {
  local folder="$1" source="$2"
  shift 2
  CMAKE_BUILD_PARALLEL_LEVEL="$(build_jobs)" "$(package_python)/bin/python" -m pip wheel -q --no-build-isolation --no-deps \
    --no-index --wheel-dir "$folder" "$source" "$@"
}

# The Python package as tools/wheel.sh makes it of the ordinary build.
python_package() {
  if [ ! -e "$(package_python)/ready" ]; then
    lacking 1 "the Python package, for lack of the packages that build it"
    return 0
  fi
  if tools/wheel.sh build/python > build/python.log; then
    python_tests build/python "$(cat build/python.log)" || failed=$((failed + 1))
  else
    say "the Python package does not build"
    failed=$((failed + 1))
  fi
}

# The documentation as a site: every link and every page has its place.
site() {
  if [ ! -e "$(site_python)/ready" ]; then
    lacking 1 "the documentation as a site, for lack of the packages that build it"
  elif tools/site.sh build/site > build/site.log; then
    passed=$((passed + 1))
  else
    say "the documentation has links that lead nowhere, or pages without a place in tools/site/mkdocs.yml"
    failed=$((failed + 1))
  fi
}

# The sdist builds by itself, in a folder of its own, and its wheel passes the same tests.
python_sdist() {
  local python folder="$PWD/build/sdist"
  [ -e "$(package_python)/ready" ] || return 0
  python="$(package_python)/bin/python"
  rm -rf build/sdist
  mkdir -p build/sdist
  if (cd plugins/python && PYTHONPATH=backend "$python" -c \
    'import sys, cudagraphkit_backend; cudagraphkit_backend.build_sdist(sys.argv[1])' "$folder") > build/sdist.log 2>&1 &&
    python_wheel build/sdist/wheel "$(echo build/sdist/*.tar.gz)"; then
    python_tests build/sdist build/sdist/wheel/*.whl || failed=$((failed + 1))
  else
    say "the sdist of the Python package does not build"
    failed=$((failed + 1))
  fi
}

# A plugin is loaded into programs that may lack the sanitizer's runtime, so it is loaded first, everywhere but in the
# transcripts, which run graphkit alone. Some programs leak on purpose: leaks are looked for in the unit tests only.
address_and_undefined() {
  configure build-asan asan
  build_or_fail build-asan || return 0
  export UBSAN_OPTIONS=print_stacktrace=1
  run_tests build-asan -L unit
  ASAN_OPTIONS=detect_leaks=0 run_tests build-asan -L transcript
  ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(g++ -print-file-name=libasan.so)" \
    run_tests build-asan -LE 'unit|transcript|browser|style|tidy' -E '^layering$'
}

# Loaded first into what the tests trace only: Python doesn't run with this runtime.
threads() {
  configure build-tsan tsan
  build_or_fail build-tsan || return 0
  GRAPHKIT_TEST_PRELOAD="$(g++ -print-file-name=libtsan.so)" run_tests build-tsan -L threads
}

# The other compiler: its warnings, its view of what is standard, and what clang-tidy finds.
clang_build() {
  configure build-clang clang
  if build_or_fail build-clang; then run_tests build-clang -L 'unit|tidy'; fi
}

# Each fuzz target for a minute; what it finds stays in build-fuzz/.
fuzz() {
  configure build-fuzz fuzz
  if build_or_fail build-fuzz fuzz_programs; then run_tests build-fuzz -L fuzz; fi
}

# The wheel for aarch64, whose command is emulated and compared with the ordinary build's.
aarch64_wheel() {
  local line wheels="$PWD/build-aarch64/dist"
  if [ ! -e "$(aarch64_cache)/sysroot" ] || [ ! -e "$(package_python)/ready" ]; then
    lacking 1 "the wheel for aarch64, for lack of the packages that build it"
    return 0
  fi
  rm -rf "$wheels"
  if ! tools/wheel.sh --arch aarch64 "$wheels" > /dev/null; then
    say "the wheel for aarch64 does not build"
    failed=$((failed + 1))
    return 0
  fi
  line="$(python3 tests/install/aarch64.py --wheel "$wheels"/*.whl --graphkit build/bin/graphkit --tools "$(aarch64_cache)" \
    --testdata testdata --out build-aarch64/test | tee >(cat >&2) | tail -n 1)" || true
  [[ "$line" == "aarch64: "* ]] || line="aarch64: 0 passed, 1 failed"
  passed=$((passed + $(count_of passed "$line"))) failed=$((failed + $(count_of failed "$line")))
}

# The report, and the page that shows any file, which is built first.
in_browser() {
  if [ ! -e "$(web_cache)" ]; then
    lacking 1 "the page that shows any file, for lack of the libraries that build it"
  elif ! tools/web.sh > build/web.log; then
    say "the page that shows any file does not build"
    failed=$((failed + 1))
  fi
  run_tests build -L browser
}

# The command line built with MPI, in jobs of 2 and 4 processes.
mpi_jobs() {
  configure build-mpi mpi
  if build_or_fail build-mpi graphkit_cli graphkit_synth_program; then run_tests build-mpi -L mpi; fi
}

# The commands of the documentation, as a reader runs them after the README's first command.
documented_commands() {
  local line
  if tools/fresh.sh --ready; then
    FRESH_CCACHE="${FRESH_CCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}" \
      tools/fresh.sh './tools/demo.sh' 'cmake --build build --target examples' 'apt-get -q install -y jq' './tests/docs/run_docs.py' > build/docs.log 2>&1 || true
  else
    tests/docs/run_docs.py > build/docs.log 2>&1 || true
  fi
  line="$(grep '^docs: ' build/docs.log | tail -n 1)" || line="docs: 0 passed, 1 failed"
  say "$line (build/docs.log)"
  passed=$((passed + $(count_of passed "$line"))) failed=$((failed + $(count_of failed "$line")))
  skipped=$((skipped + $(count_of skipped "$line")))
}

# What a run of CI adds: a third of the sources through clang and clang-tidy, or a third of the documentation's pages, run whole.
# The commit chooses which, so that a repeated run is the same; GRAPHKIT_TURN (0 to 5) names one.
in_turn() {
  local turn="${GRAPHKIT_TURN:-}" begin=$SECONDS line
  [ -n "$turn" ] || turn=$((0x$(git rev-parse HEAD | head -c 7) % 6))
  if [ $((turn % 2)) -eq 0 ]; then
    say "turn $turn: clang and clang-tidy, part $((turn / 2 + 1)) of 3"
    tools/setup.sh lint
    configure build-turn clang
    # What is generated is there in the ordinary build.
    sed -i -E 's,/build-turn/(libgraphkit|plugins|tools)/,/build/\1/,g' build-turn/compile_commands.json
    if python3 tests/style.py compiler . build-turn $((turn / 2)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    if python3 tests/style.py tidy . build-turn $((turn / 2)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  else
    say "turn $turn: the documentation's commands, part $((turn / 2 + 1)) of 3"
    build_or_fail build examples || return 0
    tests/docs/run_docs.py --third $((turn / 2)) --wheel "$(cat build/python.log)" > build/docs.log 2>&1 || true
    line="$(grep '^docs: ' build/docs.log | tail -n 1)" || line="docs: 0 passed, 1 failed"
    grep -A 3 '^FAILED' build/docs.log || true
    say "$line (build/docs.log)"
    passed=$((passed + $(count_of passed "$line"))) failed=$((failed + $(count_of failed "$line")))
    skipped=$((skipped + $(count_of skipped "$line")))
  fi
  say "turn $turn took $((SECONDS - begin)) s"
}

long_random() {
  GRAPHKIT_TEST_SEED="$(date +%s)" GRAPHKIT_TEST_ROUNDS=50
  export GRAPHKIT_TEST_SEED GRAPHKIT_TEST_ROUNDS
  say "random cross-checks, 50 times as long, with GRAPHKIT_TEST_SEED=$GRAPHKIT_TEST_SEED"
  run_tests build -L random
}

# count_of WORD LINE: the number before a word of what run.py says last.
count_of() {
  local number
  number="$(sed -n "s/.* \([0-9][0-9]*\) $1.*/\1/p" <<< "$2")"
  printf '%s\n' "${number:-0}"
}

# client_programs [NAME...]: programs of other people's libraries, under the tracer. Those of a library that can't be fetched are
# skipped.
client_programs() {
  local name packages wanted=" $* "
  configure build release
  build_or_fail build trace_parts graphkit_torch_allocator || return 0
  while read -r name packages <&3; do
    [[ $# -eq 0 || "$wanted" == *" $name "* ]] || continue
    # shellcheck disable=SC2086  # a list of words
    want_client "$name" $packages || true
    run_client "$name" run.py --python "$(client_python "$name")" --name "$name" "tests/clients/${name%%-*}"
    [[ "$name" == torch* ]] || continue
    [[ "$name" != torch ]] || run_client check_examples ../docs/check_programs.py test docs/checks --python "$(client_python "$name")"
    run_client "$name" run.py --python "$(client_python "$name")" --name "$name" testdata/clients
    run_client "$name" memory_figures.py --python "$(client_python "$name")" --name "$name" tests/clients/torch testdata/clients
    run_client "$name" allocator.py --python "$(client_python "$name")" --name "$name"
    run_client "$name" borrowing.py --python "$(client_python "$name")" --name "$name"
    run_client "$name" layout.py --python "$(client_python "$name")" --name "$name"
    [[ "$name" != torch ]] || # 2.8 lacks the hooks
      run_client "$name" compare_recordings.py --python "$(client_python "$name")" --name "$name" tests/clients/torch
    [[ "$name" != torch ]] || run_client "$name" beside_profiler.py --python "$(client_python "$name")" --name "$name"
    [[ "$name" != torch ]] || # 2.8 lacks one of the settings that are compared
      run_client "$name" compare_allocators.py --python "$(client_python "$name")" --name "$name"
  done 3< <(grep -v '^#' tools/setup/clients.txt)
  [[ $# -gt 0 && "$wanted" != *" torch-tests "* ]] || torch_tests
  [[ $# -gt 0 && "$wanted" != *" samples "* ]] ||
    run_client samples samples.py --samples "$(graphkit_cache)/clients/samples"
}

# PyTorch's own tests of memory and graphs.
torch_tests() {
  local folder
  folder="$(graphkit_cache)/clients/torch-tests"
  want_torch_tests || true
  run_client torch-tests torch_tests.py --python "$folder/bin/python" --name torch-tests --tests "$folder/pytorch/test"
}

# frameworks [NAME...]: programs of vLLM, of SGLang and of training stacks, on the environment of torch; the latter under
# graphkit's allocator, too. Transformer Engine is built, so only where it is named.
frameworks() {
  local name packages wanted=" $* "
  configure build release
  build_or_fail build trace_parts graphkit_torch_allocator || return 0
  while read -r name packages <&3; do
    [[ "$wanted" == *" $name "* || ($# -eq 0 && "$packages" != *" --build "*) ]] || continue
    want_framework "$name" || true
    run_client "$name" run.py --python "$(client_python "$name")" --name "$name" "tests/clients/$name"
    [[ "$name" != vllm ]] || # those whose engine is in the program's own process
      run_client "$name" memory_figures.py --python "$(client_python "$name")" --name "$name" tests/clients/vllm/{moe,piecewise}.py
    [[ "$name" != vllm && "$name" != sglang ]] ||
      run_client "$name" server_recording.py --python "$(client_python "$name")" --name "$name" "tests/clients/$name/sizes.py"
    [[ "$packages" != *+torch* ]] || # the training stacks
      run_client "$name" peaks.py --python "$(client_python "$name")" --name "$name" "tests/clients/$name"
  done 3< <(grep -v '^#' tools/setup/frameworks.txt)
  [ $# -gt 0 ] || say "not run: Transformer Engine, which takes half an hour to build (tools/test.sh --clients frameworks transformer_engine)"
}

# run_client NAME SCRIPT ARGUMENT...: adds up what the script's last line counts.
run_client() {
  local name="$1" script="$2" line
  shift 2
  line="$(python3 "tests/clients/$script" --build build "$@" < /dev/null | tee >(cat >&2) | tail -n 1)" || true
  [[ "$line" == "$name: "* ]] || line="$name: 0 passed, 1 failed"
  passed=$((passed + $(count_of passed "$line"))) failed=$((failed + $(count_of failed "$line")))
  skipped=$((skipped + $(count_of skipped "$line")))
}

if [ "$clients" = yes ]; then
  tools/setup.sh build
  if [ "${2:-}" = frameworks ]; then frameworks "${@:3}"; else client_programs "${@:2}"; fi
  printf '\n%s\n' "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
fi
if [ "$all" = yes ]; then
  tools/setup.sh build test lint fuzz mpi matrix aarch64 web
  tools/setup.sh browser || say "without Chromium the tests in a browser are skipped"
else
  tools/setup.sh build test matrix
fi
if [ "$all" = yes ] && [ $# -gt 1 ]; then
  configure build "$([ -n "${CI:-}" ] && echo ci || echo release)"
  build_or_fail build all || exit 1
  for name in "${@:2}"; do part "$name"; done
else
  ordinary
  python_package
  site
  address_and_undefined
  [ -z "${CI:-}" ] || in_turn
fi
if [ "$all" = yes ] && [ $# -eq 1 ]; then
  for name in "${part_names[@]}"; do part "$name"; done
elif [ "$all" = no ]; then
  say "not run: ThreadSanitizer, clang, clang-tidy, long random cross-checks, fuzzing, the report and the page that shows any file in a browser, jobs of MPI, the wheel for aarch64, the documentation's commands (tools/test.sh --all); programs of PyTorch, JAX, numba-cuda, cuda.core, CuPy, PyTorch's own tests, and NVIDIA's samples (tools/test.sh --clients)"
fi
if grep -q 'no CUDA 13 headers' build/configure.log; then
  lacking 1 "everything that traces a program, for lack of a CUDA 13 toolkit (GRAPHKIT_CUDA_ROOT names one)"
fi

# Once more: a long log may be shown by its end alone.
printf '%s' "$failures_again"
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary+=", $skipped skipped"
printf '\n%s\n' "$summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
