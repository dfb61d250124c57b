# Finds a CUDA toolkit: on this machine, or the pieces that tools/setup.sh brings into its cache.
# Defines GRAPHKIT_HAS_CUDA, the interface target graphkit_cuda_headers (cuda.h, cuda_runtime_api.h, cupti.h,
# nvtx3), and GRAPHKIT_NVCC (the compiler, empty where there is none).
set(GRAPHKIT_HAS_CUDA OFF)
set(GRAPHKIT_CUDA_ROOT "" CACHE PATH "The CUDA toolkit to build with; empty: look in the usual places")
if(GRAPHKIT_PLUGINS)
  set(_roots ${GRAPHKIT_CUDA_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
  find_path(GRAPHKIT_CUDA_INCLUDE cuda.h HINTS ${_roots} PATH_SUFFIXES include targets/x86_64-linux/include)
  find_path(GRAPHKIT_CUPTI_INCLUDE cupti.h HINTS ${_roots}
            PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
  find_program(GRAPHKIT_NVCC nvcc HINTS ${_roots} PATH_SUFFIXES bin)
  if(GRAPHKIT_CUDA_INCLUDE AND GRAPHKIT_CUPTI_INCLUDE)
    set(GRAPHKIT_HAS_CUDA ON)
    add_library(graphkit_cuda_headers INTERFACE)
    target_include_directories(graphkit_cuda_headers SYSTEM INTERFACE
      "${GRAPHKIT_CUDA_INCLUDE}" "${GRAPHKIT_CUPTI_INCLUDE}")
    file(STRINGS "${GRAPHKIT_CUDA_INCLUDE}/cuda.h" _line REGEX "^#define CUDA_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" GRAPHKIT_CUDA_VERSION "${_line}")
    message(STATUS "graphkit: CUDA headers ${GRAPHKIT_CUDA_VERSION} in ${GRAPHKIT_CUDA_INCLUDE}, nvcc ${GRAPHKIT_NVCC}")
  else()
    message(STATUS "graphkit: no CUDA headers: building without the tracer and the software device "
                   "(tools/setup.sh brings them, or set GRAPHKIT_CUDA_ROOT)")
  endif()
endif()
