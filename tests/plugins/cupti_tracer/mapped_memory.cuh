// Physical memory that is mapped to a range of addresses, and unmapped.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "testdata/workloads/cuda_check.h"

constexpr size_t kBytes = 2 * kMiB;  // of a mapping

inline void Driver(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "line %d: error %d\n", line, static_cast<int>(result));
  std::exit(1);
}
#define DRIVER(call) Driver(call, __LINE__)

inline CUmemAllocationProp Properties() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

using Handle = CUmemGenericAllocationHandle;

inline Handle Create() {
  const CUmemAllocationProp properties = Properties();
  Handle handle;
  DRIVER(cuMemCreate(&handle, kBytes, &properties, 0));
  return handle;
}

inline CUdeviceptr Reserve(size_t bytes = kBytes) {
  CUdeviceptr address;
  DRIVER(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  return address;
}

inline void Map(CUdeviceptr at, Handle handle) {
  const CUmemAccessDesc access = {Properties().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER(cuMemMap(at, kBytes, 0, handle, 0));
  DRIVER(cuMemSetAccess(at, kBytes, &access, 1));
}

// A range of addresses, and the memory that is mapped there.
struct Mapped {
  CUdeviceptr address = Reserve();
  Handle handle = 0;

  float* data() const { return reinterpret_cast<float*>(address); }
  void Wake(Handle with = Create()) {
    handle = with;
    Map(address, handle);
  }
  void Unmap() { DRIVER(cuMemUnmap(address, kBytes)); }
  void Sleep() {
    CHECK(cudaDeviceSynchronize());
    Unmap();
    DRIVER(cuMemRelease(handle));
  }
};
