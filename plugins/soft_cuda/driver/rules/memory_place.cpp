#include "plugins/soft_cuda/driver/rules/memory_place.h"

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// The host has one NUMA node. Managed memory can be of no place.
CUresult CheckPoolPlace(const CUmemLocation& location, CUmemAllocationType type) {
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (!managed && type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return Device::Get().IsGpu(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_INVALID:  // CU_MEM_LOCATION_TYPE_NONE of later headers
      return managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace graphkit::soft::driver
