// Functions whose structures have another layout in CUDA 12.
#include <cstring>

#include "plugins/soft_cuda/runtime12/layouts.h"
#include "runtime12_impl.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime12 {
namespace {

// The fields of cudaDeviceProp that both have, by name: as many lines as there are fields.
// NOLINTNEXTLINE(readability-function-size)
void CopyCommon(const cudaDeviceProp& from, DeviceProp* to) {
#define GRAPHKIT_COPY(field)                              \
  static_assert(sizeof(from.field) == sizeof(to->field)); \
  std::memcpy(&to->field, &from.field, sizeof(to->field));
  GRAPHKIT_COPY(name)
  GRAPHKIT_COPY(uuid)
  GRAPHKIT_COPY(luid)
  GRAPHKIT_COPY(luidDeviceNodeMask)
  GRAPHKIT_COPY(totalGlobalMem)
  GRAPHKIT_COPY(sharedMemPerBlock)
  GRAPHKIT_COPY(regsPerBlock)
  GRAPHKIT_COPY(warpSize)
  GRAPHKIT_COPY(memPitch)
  GRAPHKIT_COPY(maxThreadsPerBlock)
  GRAPHKIT_COPY(maxThreadsDim)
  GRAPHKIT_COPY(maxGridSize)
  GRAPHKIT_COPY(totalConstMem)
  GRAPHKIT_COPY(major)
  GRAPHKIT_COPY(minor)
  GRAPHKIT_COPY(textureAlignment)
  GRAPHKIT_COPY(texturePitchAlignment)
  GRAPHKIT_COPY(multiProcessorCount)
  GRAPHKIT_COPY(integrated)
  GRAPHKIT_COPY(canMapHostMemory)
  GRAPHKIT_COPY(maxTexture1D)
  GRAPHKIT_COPY(maxTexture1DMipmap)
  GRAPHKIT_COPY(maxTexture2D)
  GRAPHKIT_COPY(maxTexture2DMipmap)
  GRAPHKIT_COPY(maxTexture2DLinear)
  GRAPHKIT_COPY(maxTexture2DGather)
  GRAPHKIT_COPY(maxTexture3D)
  GRAPHKIT_COPY(maxTexture3DAlt)
  GRAPHKIT_COPY(maxTextureCubemap)
  GRAPHKIT_COPY(maxTexture1DLayered)
  GRAPHKIT_COPY(maxTexture2DLayered)
  GRAPHKIT_COPY(maxTextureCubemapLayered)
  GRAPHKIT_COPY(maxSurface1D)
  GRAPHKIT_COPY(maxSurface2D)
  GRAPHKIT_COPY(maxSurface3D)
  GRAPHKIT_COPY(maxSurface1DLayered)
  GRAPHKIT_COPY(maxSurface2DLayered)
  GRAPHKIT_COPY(maxSurfaceCubemap)
  GRAPHKIT_COPY(maxSurfaceCubemapLayered)
  GRAPHKIT_COPY(surfaceAlignment)
  GRAPHKIT_COPY(concurrentKernels)
  GRAPHKIT_COPY(ECCEnabled)
  GRAPHKIT_COPY(pciBusID)
  GRAPHKIT_COPY(pciDeviceID)
  GRAPHKIT_COPY(pciDomainID)
  GRAPHKIT_COPY(tccDriver)
  GRAPHKIT_COPY(asyncEngineCount)
  GRAPHKIT_COPY(unifiedAddressing)
  GRAPHKIT_COPY(memoryBusWidth)
  GRAPHKIT_COPY(l2CacheSize)
  GRAPHKIT_COPY(persistingL2CacheMaxSize)
  GRAPHKIT_COPY(maxThreadsPerMultiProcessor)
  GRAPHKIT_COPY(streamPrioritiesSupported)
  GRAPHKIT_COPY(globalL1CacheSupported)
  GRAPHKIT_COPY(localL1CacheSupported)
  GRAPHKIT_COPY(sharedMemPerMultiprocessor)
  GRAPHKIT_COPY(regsPerMultiprocessor)
  GRAPHKIT_COPY(managedMemory)
  GRAPHKIT_COPY(isMultiGpuBoard)
  GRAPHKIT_COPY(multiGpuBoardGroupID)
  GRAPHKIT_COPY(hostNativeAtomicSupported)
  GRAPHKIT_COPY(pageableMemoryAccess)
  GRAPHKIT_COPY(concurrentManagedAccess)
  GRAPHKIT_COPY(computePreemptionSupported)
  GRAPHKIT_COPY(canUseHostPointerForRegisteredMem)
  GRAPHKIT_COPY(cooperativeLaunch)
  GRAPHKIT_COPY(sharedMemPerBlockOptin)
  GRAPHKIT_COPY(pageableMemoryAccessUsesHostPageTables)
  GRAPHKIT_COPY(directManagedMemAccessFromHost)
  GRAPHKIT_COPY(maxBlocksPerMultiProcessor)
  GRAPHKIT_COPY(accessPolicyMaxWindowSize)
  GRAPHKIT_COPY(reservedSharedMemPerBlock)
  GRAPHKIT_COPY(hostRegisterSupported)
  GRAPHKIT_COPY(sparseCudaArraySupported)
  GRAPHKIT_COPY(hostRegisterReadOnlySupported)
  GRAPHKIT_COPY(timelineSemaphoreInteropSupported)
  GRAPHKIT_COPY(memoryPoolsSupported)
  GRAPHKIT_COPY(gpuDirectRDMASupported)
  GRAPHKIT_COPY(gpuDirectRDMAFlushWritesOptions)
  GRAPHKIT_COPY(gpuDirectRDMAWritesOrdering)
  GRAPHKIT_COPY(memoryPoolSupportedHandleTypes)
  GRAPHKIT_COPY(deferredMappingCudaArraySupported)
  GRAPHKIT_COPY(ipcEventSupported)
  GRAPHKIT_COPY(clusterLaunch)
  GRAPHKIT_COPY(unifiedFunctionPointers)
#undef GRAPHKIT_COPY
}

int Attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  (void)runtime::DeviceGetAttribute(&value, attribute, device);
  return value;
}

}  // namespace

cudaError_t GetDeviceProperties(cudaDeviceProp* prop, int device) {
  if (prop == nullptr) return cudaErrorInvalidValue;
  cudaDeviceProp known;
  if (const cudaError_t error = runtime::GetDeviceProperties(&known, device); error != cudaSuccess)
    return error;
  auto* out = reinterpret_cast<DeviceProp*>(prop);
  *out = {};
  CopyCommon(known, out);
  out->clockRate = Attribute(cudaDevAttrClockRate, device);
  out->deviceOverlap = Attribute(cudaDevAttrGpuOverlap, device);
  out->kernelExecTimeoutEnabled = Attribute(cudaDevAttrKernelExecTimeout, device);
  out->computeMode = Attribute(cudaDevAttrComputeMode, device);
  out->memoryClockRate = Attribute(cudaDevAttrMemoryClockRate, device);
  out->singleToDoublePrecisionPerfRatio =
      Attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return cudaSuccess;
}

// Programs that were built for CUDA 11, and those that look the name up, mean its structure: it
// ends with reservedSharedMemPerBlock. CUDA 12 added fields behind that.
cudaError_t GetDeviceProperties_v3020(cudaDeviceProp* prop, int device) {
  if (prop == nullptr) return cudaErrorInvalidValue;
  DeviceProp known;
  const cudaError_t error = GetDeviceProperties(reinterpret_cast<cudaDeviceProp*>(&known), device);
  if (error == cudaSuccess) std::memcpy(prop, &known, offsetof(DeviceProp, hostRegisterSupported));
  return error;
}

cudaError_t PointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  cudaPointerAttributes known;
  const cudaError_t error = runtime::PointerGetAttributes(&known, pointer);
  *reinterpret_cast<PointerAttributes*>(attributes) = {known.type, known.device,
                                                       known.devicePointer, known.hostPointer};
  return error;
}

}  // namespace graphkit::soft::runtime12
