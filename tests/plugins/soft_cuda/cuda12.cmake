# Conformance programs as nvcc 12 builds them, against the software device's libcudart.so.12: those that a CUDA 12.4 can
# compile (the functions of CUDA 12 with edge data by way of as_cuda13.h), and those that only CUDA 12 has.
set(soft_programs12
  capture capture_errors copy device driver_memory event execution exec_params exec_update graph graph_dot graph_nodes
  launch memory old_forms programmatic semaphore user_object)
set(soft_per_thread_programs12 capture copy event exec_update memory old_forms)

# soft_program12(name source [nvcc options...]): the program and its test.
function(soft_program12 name source)
  set(program "${soft_tests}/cuda12/${name}")
  set(as_cuda13 -include "${CMAKE_CURRENT_SOURCE_DIR}/as_cuda13.h")
  if(source STREQUAL old_forms)
    set(as_cuda13 "")
  endif()
  set(sources ${source}.cu conformance.h graphs.h kernels.h as_cuda13.h)
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  soft_command(cuda12/${name} "${sources}" "${GRAPHKIT_NVCC12}" -cudart shared -cudadevrt none -arch=sm_90a -std=c++17 -O1 -g
    -Xcompiler -Wall ${as_cuda13} ${ARGN} -o "${program}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}.cu" ${soft_link})
  add_custom_target(soft_program12_${name} ALL DEPENDS "${program}")
  add_dependencies(soft_program12_${name} soft_cuda)
  add_test(NAME soft12_${name} COMMAND "${program}")
  set_tests_properties(soft12_${name} PROPERTIES LABELS soft ENVIRONMENT "${soft_environment}")
endfunction()

if(GRAPHKIT_NVCC12)
  file(MAKE_DIRECTORY "${soft_tests}/cuda12")
  foreach(name ${soft_programs12})
    soft_program12(${name} ${name})
  endforeach()
  foreach(name ${soft_per_thread_programs12})
    soft_program12(${name}_per_thread ${name} --default-stream per-thread)
  endforeach()
else()
  graphkit_skipped_test(soft12 "no CUDA 12 toolkit (tools/setup.sh test)" soft)
endif()
