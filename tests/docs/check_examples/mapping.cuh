// Physical memory mapped to addresses, for the examples of docs/checks.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

// A range of addresses, as long as a mapping: 2 MiB.
constexpr size_t range = size_t{2} << 20;
inline float* Reserve() {
  CUdeviceptr address;
  cuMemAddressReserve(&address, range, 0, 0, 0);
  return reinterpret_cast<float*>(address);
}

// Maps new physical memory to it; unmaps it, so that the memory goes.
inline void Map(float* at) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const auto address = reinterpret_cast<CUdeviceptr>(at);
  CUmemGenericAllocationHandle handle;
  cuMemCreate(&handle, range, &properties, 0);
  cuMemMap(address, range, 0, handle, 0);
  cuMemSetAccess(address, range, &access, 1);
  cuMemRelease(handle);
}
inline void Unmap(float* at) {
  cudaDeviceSynchronize();
  cuMemUnmap(reinterpret_cast<CUdeviceptr>(at), range);
}
