# Finds a CUDA 13 toolkit: on this machine, or the pieces that tools/setup.sh brought into its cache (the same
# places in the same order as tools/setup/cuda.sh).
# Defines GRAPHKIT_HAS_CUDA, GRAPHKIT_CUDA_VERSION, the interface target graphkit_cuda_headers (cuda.h,
# cuda_runtime_api.h, cupti.h, nvtx3), and GRAPHKIT_NVCC (the compiler, empty where there is none).
set(GRAPHKIT_HAS_CUDA OFF)
set(GRAPHKIT_NVCC "")
set(GRAPHKIT_CUDA_ROOT "" CACHE PATH "The CUDA toolkit to build with; empty: look in the usual places")

# The folder that tools/setup.sh unpacks the pinned wheels into.
function(graphkit_cuda_cache out)
  if(DEFINED ENV{GRAPHKIT_CACHE})
    set(cache "$ENV{GRAPHKIT_CACHE}")
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}/graphkit")
  else()
    set(cache "$ENV{HOME}/.cache/graphkit")
  endif()
  file(SHA256 "${PROJECT_SOURCE_DIR}/tools/setup/cuda-wheels.txt" sum)
  string(SUBSTRING "${sum}" 0 12 sum)
  set(${out} "${cache}/cuda-${sum}" PARENT_SCOPE)
endfunction()

# Takes the toolkit in root if it has the headers of CUDA 13 or later and CUPTI's, and a compiler unless
# need_nvcc is off.
function(graphkit_try_cuda root need_nvcc)
  unset(include)
  unset(cupti)
  unset(nvcc)
  find_path(include cuda.h PATHS "${root}" PATH_SUFFIXES include targets/x86_64-linux/include
            NO_DEFAULT_PATH NO_CACHE)
  find_path(cupti cupti.h PATHS "${root}"
            PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include NO_DEFAULT_PATH NO_CACHE)
  find_program(nvcc nvcc PATHS "${root}/bin" NO_DEFAULT_PATH NO_CACHE)
  if(NOT include OR NOT cupti OR (need_nvcc AND NOT nvcc))
    return()
  endif()
  file(STRINGS "${include}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${line}")
  if(version LESS 13000)
    return()
  endif()
  string(REGEX REPLACE "/$" "" include "${include}")
  string(REGEX REPLACE "/$" "" cupti "${cupti}")
  set(GRAPHKIT_HAS_CUDA ON PARENT_SCOPE)
  set(GRAPHKIT_CUDA_VERSION ${version} PARENT_SCOPE)
  set(GRAPHKIT_CUDA_INCLUDE "${include}" PARENT_SCOPE)
  set(GRAPHKIT_CUPTI_INCLUDE "${cupti}" PARENT_SCOPE)
  if(nvcc)
    set(GRAPHKIT_NVCC "${nvcc}" PARENT_SCOPE)
  endif()
endfunction()

if(GRAPHKIT_PLUGINS)
  graphkit_cuda_cache(_cache)
  find_program(_nvcc nvcc NO_CACHE)
  if(_nvcc)
    file(REAL_PATH "${_nvcc}" _nvcc)
    cmake_path(GET _nvcc PARENT_PATH _nvcc_root)
    cmake_path(GET _nvcc_root PARENT_PATH _nvcc_root)
  endif()
  set(_roots "${GRAPHKIT_CUDA_ROOT}" "$ENV{GRAPHKIT_CUDA_ROOT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}"
      /usr/local/cuda "${_nvcc_root}" "${_cache}")
  foreach(_need_nvcc ON OFF)
    foreach(_root IN LISTS _roots)
      if(_root AND NOT GRAPHKIT_HAS_CUDA)
        graphkit_try_cuda("${_root}" ${_need_nvcc})
      endif()
    endforeach()
  endforeach()
endif()

if(GRAPHKIT_HAS_CUDA)
  add_library(graphkit_cuda_headers INTERFACE)
  target_include_directories(graphkit_cuda_headers SYSTEM INTERFACE
    "${GRAPHKIT_CUDA_INCLUDE}" "${GRAPHKIT_CUPTI_INCLUDE}")
  message(STATUS "graphkit: CUDA headers ${GRAPHKIT_CUDA_VERSION} in ${GRAPHKIT_CUDA_INCLUDE}, nvcc ${GRAPHKIT_NVCC}")
elseif(GRAPHKIT_PLUGINS)
  message(STATUS "graphkit: no CUDA 13 headers: building without the tracer and the software device "
                 "(tools/setup.sh brings them, or set GRAPHKIT_CUDA_ROOT)")
endif()
