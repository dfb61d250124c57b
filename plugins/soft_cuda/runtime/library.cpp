// Libraries: code that a program loads itself, and its kernels and variables.
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t LibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption* jit,
                            void** jit_values, unsigned int jit_count, cudaLibraryOption* options,
                            void** values, unsigned int count) {
  return ToRuntime(cuLibraryLoadData(reinterpret_cast<CUlibrary*>(out), code,
                                     reinterpret_cast<CUjit_option*>(jit), jit_values, jit_count,
                                     reinterpret_cast<CUlibraryOption*>(options), values, count));
}

cudaError_t LibraryLoadFromFile(cudaLibrary_t* out, const char* path, cudaJitOption* jit,
                                void** jit_values, unsigned int jit_count,
                                cudaLibraryOption* options, void** values, unsigned int count) {
  return ToRuntime(cuLibraryLoadFromFile(
      reinterpret_cast<CUlibrary*>(out), path, reinterpret_cast<CUjit_option*>(jit), jit_values,
      jit_count, reinterpret_cast<CUlibraryOption*>(options), values, count));
}

cudaError_t LibraryUnload(cudaLibrary_t library) {
  return ToRuntime(cuLibraryUnload(reinterpret_cast<CUlibrary>(library)));
}

cudaError_t LibraryGetKernel(cudaKernel_t* out, cudaLibrary_t library, const char* name) {
  return ToRuntime(cuLibraryGetKernel(reinterpret_cast<CUkernel*>(out),
                                      reinterpret_cast<CUlibrary>(library), name));
}

cudaError_t LibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return ToRuntime(cuLibraryGetKernelCount(count, reinterpret_cast<CUlibrary>(library)));
}

cudaError_t LibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int count,
                                    cudaLibrary_t library) {
  return ToRuntime(cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(kernels), count,
                                             reinterpret_cast<CUlibrary>(library)));
}

cudaError_t LibraryGetGlobal(void** out, size_t* bytes, cudaLibrary_t library, const char* name) {
  return ToRuntime(cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(out), bytes,
                                      reinterpret_cast<CUlibrary>(library), name));
}

cudaError_t LibraryGetManaged(void** out, size_t* bytes, cudaLibrary_t library, const char* name) {
  return ToRuntime(cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(out), bytes,
                                       reinterpret_cast<CUlibrary>(library), name));
}

cudaError_t LibraryGetUnifiedFunction(void** out, cudaLibrary_t library, const char* name) {
  return ToRuntime(cuLibraryGetUnifiedFunction(out, reinterpret_cast<CUlibrary>(library), name));
}

cudaError_t KernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                        int device) {
  return ToRuntime(cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value,
                                        reinterpret_cast<CUkernel>(kernel), device));
}

}  // namespace graphkit::soft::runtime
