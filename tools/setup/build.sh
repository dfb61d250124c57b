# shellcheck shell=bash
# Configures and builds one build folder. Sourced by tools/demo.sh and tools/test.sh.

# How many compilers at once: one a core, and 1.5 GiB for each.
build_jobs() {
  local cores memory
  cores="$(nproc)"
  memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1572864))
  [ "$memory" -lt "$cores" ] && cores="$memory"
  printf '%s\n' $((cores < 1 ? 1 : cores))
}

# configure FOLDER PRESET [CMAKE ARGUMENT...]: with a preset of CMakePresets.json.
configure() {
  local folder="$1" preset="$2" launcher=()
  shift 2
  command -v ccache > /dev/null &&
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  [ -e "$folder/CMakeCache.txt" ] || launcher+=(-G Ninja)
  mkdir -p "$folder"
  say "configuring $folder"
  cmake -B "$folder" --preset "$preset" "${launcher[@]}" "$@" > "$folder/configure.log" 2>&1 || {
    grep -A4 'CMake Error' "$folder/configure.log" >&2
    die "cmake could not configure $folder" "see $folder/configure.log"
  }
  sed -n 's/^-- graphkit: /graphkit:   /p' "$folder/configure.log" >&2
}

# build FOLDER [TARGET...]: returns 1 when something doesn't compile; the compiler has said why.
build() {
  local folder="$1"
  shift
  say "building $folder with $(build_jobs) jobs"
  cmake --build "$folder" -j "$(build_jobs)" ${1:+--target "$@"} >&2
}
