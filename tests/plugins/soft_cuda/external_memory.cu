// External memory, imported by a file descriptor. On a GPU that would have to come from Vulkan;
// software device only, where a file's bytes are the memory's.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "conformance.h"

namespace {

constexpr size_t kBytes = 1 << 16;

int File(const char* text) {
  const int file = memfd_create("conformance", 0);
  EXPECT(file >= 0 && ftruncate(file, kBytes) == 0);
  EXPECT(pwrite(file, text, std::strlen(text), 4096) == static_cast<ssize_t>(std::strlen(text)));
  return file;
}

cudaExternalMemory_t Import(int file, size_t bytes) {
  cudaExternalMemoryHandleDesc desc = {};
  desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
  desc.handle.fd = file;
  desc.size = bytes;
  cudaExternalMemory_t memory = nullptr;
  EXPECT_OK(cudaImportExternalMemory(&memory, &desc));
  return memory;
}

// effect: cudaImportExternalMemory cudaExternalMemoryGetMappedBuffer cudaDestroyExternalMemory
CASE(Buffers) {
  const int file = File("external");
  size_t before = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&before, &total));
  cudaExternalMemory_t memory = Import(dup(file), kBytes);
  cudaExternalMemoryBufferDesc desc = {};
  desc.offset = 4096;
  desc.size = 8192;
  void* buffer = nullptr;
  EXPECT_OK(cudaExternalMemoryGetMappedBuffer(&buffer, memory, &desc));
  char text[9] = {};
  EXPECT_OK(cudaMemcpy(text, buffer, 8, cudaMemcpyDeviceToHost));
  EXPECT(std::string(text) == "external");
  EXPECT_OK(cudaMemset(buffer, 'x', 3));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(pread(file, text, 8, 4096) == 8 && std::string(text) == "xxxernal");
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(buffer, 0, 2 * kBytes));

  desc.size = kBytes;  // beyond the end
  EXPECT_ERROR(cudaErrorInvalidValue, cudaExternalMemoryGetMappedBuffer(&buffer, memory, &desc));
  desc.flags = 1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaExternalMemoryGetMappedBuffer(&buffer, memory, &desc));
  EXPECT_OK(cudaDestroyExternalMemory(memory));  // the buffer is freed for itself
  EXPECT_FAILS(cudaDestroyExternalMemory(memory));
  EXPECT_OK(cudaMemset(buffer, 'y', 1));
  EXPECT_OK(cudaFree(buffer));
  size_t after = 0;
  EXPECT_OK(cudaMemGetInfo(&after, &total));
  EXPECT(after == before);
  EXPECT_FAILS(cudaMemset(buffer, 'z', 1));
  close(file);

  cudaExternalMemoryHandleDesc wrong = {};
  wrong.type = cudaExternalMemoryHandleTypeOpaqueFd;
  wrong.handle.fd = -1;
  wrong.size = kBytes;
  EXPECT_FAILS(cudaImportExternalMemory(&memory, &wrong));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaImportExternalMemory(&memory, nullptr));
}

// effect: cudaExternalMemoryGetMappedMipmappedArray
CASE(Arrays) {
  const int file = File("abcdefgh");
  cudaExternalMemory_t memory = Import(dup(file), kBytes);
  cudaExternalMemoryMipmappedArrayDesc desc = {};
  desc.offset = 4096;
  desc.formatDesc = cudaCreateChannelDesc<unsigned char>();
  desc.extent = make_cudaExtent(4, 2, 0);
  desc.numLevels = 1;
  cudaMipmappedArray_t array = nullptr;
  EXPECT_OK(cudaExternalMemoryGetMappedMipmappedArray(&array, memory, &desc));
  cudaArray_t level = nullptr;
  EXPECT_OK(cudaGetMipmappedArrayLevel(&level, array, 0));
  char row[5] = {};
  EXPECT_OK(cudaMemcpy2DFromArray(row, 4, level, 0, 1, 4, 1, cudaMemcpyDeviceToHost));
  EXPECT(std::string(row) == "efgh");
  desc.numLevels = 9;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaExternalMemoryGetMappedMipmappedArray(&array, memory, &desc));
  EXPECT_OK(cudaFreeMipmappedArray(array));
  EXPECT_OK(cudaDestroyExternalMemory(memory));
  close(file);
}

// effect: cuImportExternalMemory cuExternalMemoryGetMappedBuffer cuDestroyExternalMemory
// effect: cuExternalMemoryGetMappedMipmappedArray
CASE(Driver) {
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {};
  desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  desc.handle.fd = File("driver");
  desc.size = kBytes;
  CUexternalMemory memory = nullptr;
  EXPECT_OK(cuImportExternalMemory(&memory, &desc));
  const CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {4096, 6, 0};
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  EXPECT_OK(cuExternalMemoryGetMappedBuffer(&first, memory, &buffer));
  EXPECT_OK(cuExternalMemoryGetMappedBuffer(&second, memory, &buffer));
  EXPECT_OK(cuMemsetD8(first, 'D', 1));
  EXPECT_OK(cuMemFree(first));
  char text[7] = {};
  EXPECT_OK(cuMemcpyDtoH(text, second, 6));
  EXPECT(std::string(text) == "Driver");
  EXPECT_OK(cuMemFree(second));
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC levels = {};
  levels.arrayDesc = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  levels.numLevels = 2;
  CUmipmappedArray array = nullptr;
  EXPECT_OK(cuExternalMemoryGetMappedMipmappedArray(&array, memory, &levels));
  CUarray level = nullptr;
  CUDA_ARRAY_DESCRIPTOR shape = {};
  EXPECT_OK(cuMipmappedArrayGetLevel(&level, array, 1));
  EXPECT_OK(cuArrayGetDescriptor(&shape, level));
  EXPECT(shape.Width == 32 && shape.Height == 32);
  EXPECT_OK(cuMipmappedArrayDestroy(array));
  levels.arrayDesc.Width = 1024;  // larger than the object
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
               cuExternalMemoryGetMappedMipmappedArray(&array, memory, &levels));
  EXPECT_OK(cuDestroyExternalMemory(memory));
  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuExternalMemoryGetMappedBuffer(&first, memory, &buffer));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, nullptr));
}

}  // namespace

int main() {
  if (!conformance::OnSoftDevice()) return conformance::SkipOnGpu("external_memory");
  EXPECT_OK(cudaFree(nullptr));
  conformance::RunCases();
  return conformance::Finish("external_memory");
}
