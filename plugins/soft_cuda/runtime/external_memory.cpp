// Memory and semaphores that another library exported as file descriptors.
#include "plugins/soft_cuda/runtime/forward.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

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
  return ToRuntime(cuExternalMemoryGetMappedMipmappedArray(As(out), As(memory), &mapped));
}

cudaError_t ImportExternalSemaphore(cudaExternalSemaphore_t* out,
                                    const cudaExternalSemaphoreHandleDesc* desc) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC driver_desc{};
  driver_desc.type = static_cast<CUexternalSemaphoreHandleType>(desc->type);
  driver_desc.handle.fd = desc->handle.fd;
  driver_desc.flags = desc->flags;
  return ToRuntime(cuImportExternalSemaphore(As(out), &driver_desc));
}

}  // namespace graphkit::soft::runtime
