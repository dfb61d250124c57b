# Properties of every target of ours: C++20, warnings, hidden symbols, sanitizers.
add_library(graphkit_options INTERFACE)
target_compile_features(graphkit_options INTERFACE cxx_std_20)
target_compile_options(graphkit_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wconversion;-Wno-missing-field-initializers;-fno-omit-frame-pointer>)
# Figures are the same on every machine: no product and sum in one instruction, which rounds once. x86-64's default has none.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(graphkit_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)
endif()
if(GRAPHKIT_WERROR)
  target_compile_options(graphkit_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(GRAPHKIT_SANITIZE)
  target_compile_options(graphkit_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GRAPHKIT_SANITIZE};-fno-sanitize-recover=all>)
  target_link_options(graphkit_options INTERFACE -fsanitize=${GRAPHKIT_SANITIZE})
  # After -fsanitize, which would switch it on again.
  target_compile_options(graphkit_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:GRAPHKIT_C_INTERFACE>>:-fno-sanitize=enum>)
endif()
if(GRAPHKIT_FUZZ)
  target_compile_options(graphkit_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()

# Compiles the sources of a target up to GRAPHKIT_UNIT_SOURCES of a folder at a time, which halves the time: names local to
# a file have to be unique in their folder, in libgraphkit in their part of it (alloc, analysis, …), in the command line in
# all of it, as each of its units takes long for the headers of its options. With
# GRAPHKIT_FEW_UNITS off, as in the preset 'clang', each is compiled for itself and has to include what it uses, but for
# tests. Of these 8 at a time: they are what is compiled again most.
function(graphkit_few_units target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(place ${target} SOURCE_DIR)
  set(most ${GRAPHKIT_UNIT_SOURCES})
  if(place MATCHES "^${PROJECT_SOURCE_DIR}/tests" AND most GREATER 8)
    set(most 8)
  endif()
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(REGEX REPLACE "^(${PROJECT_SOURCE_DIR}/libgraphkit/[^/]*)/.*" "\\1" folder "${folder}")
    if(target STREQUAL "graphkit_cli")
      set(folder "")
    endif()
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    math(EXPR count "0${count_${folder}} + 1")
    set(count_${folder} ${count})
    math(EXPR unit "(${count} - 1) / ${most}")
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${folder}_${unit}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Sets the properties that every target of ours has.
function(graphkit_target target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:graphkit_options>)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  set(independent ON)
  if(EMSCRIPTEN)
    set(independent OFF)
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ${independent}
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  get_target_property(place ${target} SOURCE_DIR)
  if(NOT place MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    # clang's -Wconversion has it, g++'s hasn't.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wsign-conversion>)
  endif()
  if(GRAPHKIT_FEW_UNITS OR place MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    cmake_language(EVAL CODE "cmake_language(DEFER CALL graphkit_few_units ${target})")
  endif()
endfunction()

# Compiles the standard headers that nearly every source of a target includes once for it, or takes them from the target
# FROM. With clang alone, which a quarter of its time goes for; g++ gains nothing by it. Off where each source has to
# include what it uses.
function(graphkit_precompile target)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  if(NOT GRAPHKIT_FEW_UNITS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <charconv> <functional> <map> <memory> <optional>
    <ostream> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <vector> ${arg_HEADERS})
endfunction()

# For what is slow to compile and quick to run: optimized a little (-Og compiles in a fifth less than -O1), and under the
# sanitizers, whose checks the optimizer is slow with, not at all, which halves the compile time of a file of tests, and
# more for the command line.
function(graphkit_quick_to_compile target)
  set(level g)
  if(GRAPHKIT_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(level 0)
  endif()
  if(EMSCRIPTEN)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-O${level}>)
endfunction()

# graphkit_test(name sources... [LIBRARIES ...] [LABELS ...]): one doctest program, one ctest.
function(graphkit_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  graphkit_target(${name})
  graphkit_quick_to_compile(${name})
  target_link_libraries(${name} PRIVATE graphkit_test_main ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  get_property(first GLOBAL PROPERTY graphkit_first_test)
  if(NOT first)
    set_property(GLOBAL PROPERTY graphkit_first_test ${name})
  endif()
  graphkit_precompile(${name} FROM "${first}" HEADERS <doctest/doctest.h>)
  target_compile_definitions(${name} PRIVATE
    GRAPHKIT_TESTDATA="${PROJECT_SOURCE_DIR}/testdata" GRAPHKIT_BUILD="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77)
endfunction()

# graphkit_skipped_test(name why label): stands for tests that can't be run here, so that they don't vanish.
function(graphkit_skipped_test name why label)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${why}")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" SKIP_REGULAR_EXPRESSION "skipped")
endfunction()

# graphkit_benchmark(name sources... [LIBRARIES ...]): one google-benchmark program. 'cmake --build build --target
# bench' runs all of them, one after the other, and writes build/bench/<name>.json; 'bench_programs' only builds
# them. Does nothing where google-benchmark isn't found.
function(graphkit_benchmark name)
  if(NOT TARGET benchmark::benchmark_main)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_UNPARSED_ARGUMENTS})
  graphkit_target(${name})
  target_link_libraries(${name} PRIVATE graphkit_synth benchmark::benchmark_main ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  target_compile_definitions(${name} PRIVATE
    GRAPHKIT_TESTDATA="${PROJECT_SOURCE_DIR}/testdata" GRAPHKIT_BUILD="${PROJECT_BINARY_DIR}")
  # The console is held by one program at a time, so no two benchmarks run at once.
  add_custom_target(run_${name}
    COMMAND ${name} --benchmark_out=${PROJECT_BINARY_DIR}/bench/${name}.json --benchmark_out_format=json
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/bench" USES_TERMINAL VERBATIM)
  add_dependencies(bench run_${name})
  add_dependencies(bench_programs ${name})
endfunction()

# graphkit_fuzz(name source.cpp [SEEDS folders...]): one libFuzzer program, and a ctest that runs it for
# GRAPHKIT_FUZZ_SECONDS from what it found earlier and the inputs in SEEDS.
set(GRAPHKIT_FUZZ_SECONDS 60 CACHE STRING "How long ctest runs each fuzz target")
function(graphkit_fuzz name)
  cmake_parse_arguments(arg "" "" "SEEDS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  graphkit_target(${name})
  target_link_libraries(${name} PRIVATE graphkit)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(found "${PROJECT_BINARY_DIR}/fuzz/found_${name}")
  file(MAKE_DIRECTORY "${found}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  add_dependencies(fuzz_programs ${name})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${GRAPHKIT_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=4096
    -print_final_stats=1 -artifact_prefix=${found}- "${found}" ${arg_SEEDS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz)
endfunction()
