// Memory that another library exported as a file descriptor.
#include "plugins/soft_cuda/runtime/channel_format.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUexternalMemory Driver(cudaExternalMemory_t memory) {
  return reinterpret_cast<CUexternalMemory>(memory);
}

}  // namespace

cudaError_t ImportExternalMemory(cudaExternalMemory_t* out,
                                 const cudaExternalMemoryHandleDesc* desc) {
  static_assert(sizeof *desc == sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC));
  return ToRuntime(
      cuImportExternalMemory(reinterpret_cast<CUexternalMemory*>(out),
                             reinterpret_cast<const CUDA_EXTERNAL_MEMORY_HANDLE_DESC*>(desc)));
}

cudaError_t ExternalMemoryGetMappedBuffer(void** out, cudaExternalMemory_t memory,
                                          const cudaExternalMemoryBufferDesc* desc) {
  static_assert(sizeof *desc == sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
  return ToRuntime(cuExternalMemoryGetMappedBuffer(
      reinterpret_cast<CUdeviceptr*>(out), Driver(memory),
      reinterpret_cast<const CUDA_EXTERNAL_MEMORY_BUFFER_DESC*>(desc)));
}

cudaError_t ExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t* out, cudaExternalMemory_t memory,
    const cudaExternalMemoryMipmappedArrayDesc* desc) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC mapped{};
  mapped.offset = desc->offset;
  mapped.numLevels = desc->numLevels;
  mapped.arrayDesc.Width = desc->extent.width;
  mapped.arrayDesc.Height = desc->extent.height;
  mapped.arrayDesc.Depth = desc->extent.depth;
  mapped.arrayDesc.Flags = desc->flags;
  const cudaError_t error = ToDriver(desc->formatDesc, &mapped.arrayDesc);
  if (error != cudaSuccess) return error;
  return ToRuntime(cuExternalMemoryGetMappedMipmappedArray(reinterpret_cast<CUmipmappedArray*>(out),
                                                           Driver(memory), &mapped));
}

cudaError_t DestroyExternalMemory(cudaExternalMemory_t memory) {
  return ToRuntime(cuDestroyExternalMemory(Driver(memory)));
}

}  // namespace graphkit::soft::runtime
