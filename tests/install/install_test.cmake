# Installs the build, moves the tree elsewhere, and uses it from there: the tool runs, a project that finds the
# package builds and runs, and no file names the folder that it was built or first installed in.
set(work "${build}/install_test")
file(REMOVE_RECURSE "${work}")

function(run out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}\n${output}${errors}")
  endif()
  string(STRIP "${output}" output)
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

function(expect_equal what actual expected)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "${what}: '${actual}', expected '${expected}'")
  endif()
endfunction()

run(ignored "${CMAKE_COMMAND}" --install "${build}" --prefix "${work}/first")
file(RENAME "${work}/first" "${work}/moved")

run(printed "${work}/moved/bin/graphkit" --version)
string(REGEX MATCH "^graphkit [0-9.]+" printed "${printed}")
expect_equal("graphkit --version" "${printed}" "graphkit ${version}")

run(ignored "${CMAKE_COMMAND}" -G "${generator}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${work}/consumer"
    "-DCMAKE_PREFIX_PATH=${work}/moved" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}")
run(ignored "${CMAKE_COMMAND}" --build "${work}/consumer")
run(printed "${work}/consumer/consumer")
expect_equal("the consumer" "${printed}" "3 MiB")

file(GLOB packages "${work}/moved/lib/cmake/graphkit/*")
foreach(file IN LISTS packages)
  file(STRINGS "${file}" lines)
  foreach(folder "${work}/first" "${build}")
    string(FIND "${lines}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()

# Every plugin of the build is in the tree, under the same name.
file(GLOB_RECURSE built RELATIVE "${build}/lib/graphkit" "${build}/lib/graphkit/*")
file(GLOB_RECURSE installed RELATIVE "${work}/moved/lib/graphkit" "${work}/moved/lib/graphkit/*")
expect_equal("the plugins" "${installed}" "${built}")
