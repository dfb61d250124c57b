# What every target of ours has in common: C++20, warnings, hidden symbols, sanitizers.
add_library(graphkit_options INTERFACE)
target_compile_features(graphkit_options INTERFACE cxx_std_20)
target_compile_options(graphkit_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wconversion;-Wno-missing-field-initializers;-fno-omit-frame-pointer>)
if(GRAPHKIT_WERROR)
  target_compile_options(graphkit_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(GRAPHKIT_SANITIZE)
  target_compile_options(graphkit_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GRAPHKIT_SANITIZE};-fno-sanitize-recover=all>)
  target_link_options(graphkit_options INTERFACE -fsanitize=${GRAPHKIT_SANITIZE})
endif()

# Sets the properties that every target of ours has.
function(graphkit_target target)
  target_link_libraries(${target} PRIVATE graphkit_options)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# graphkit_test(name sources... [LIBRARIES ...] [LABELS ...]): one doctest program, one ctest.
function(graphkit_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  graphkit_target(${name})
  target_link_libraries(${name} PRIVATE graphkit_test_main ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_compile_definitions(${name} PRIVATE
    GRAPHKIT_TESTDATA="${PROJECT_SOURCE_DIR}/testdata" GRAPHKIT_BUILD="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77)
endfunction()
