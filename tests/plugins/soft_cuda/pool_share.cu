// Sharing of memory pools: exported as a file, imported again in the same process.
#include <unistd.h>

#include <cstdint>

#include "conformance.h"

namespace {

constexpr size_t kBytes = 1 << 16;
constexpr auto kFile = cudaMemHandleTypePosixFileDescriptor;
cudaStream_t stream;

cudaMemPool_t NewPool(cudaMemAllocationHandleType type) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = type;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  return pool;
}

void* Handle(int file) { return reinterpret_cast<void*>(static_cast<intptr_t>(file)); }

cudaMemPool_t Import(cudaMemPool_t pool) {
  int file = -1;
  cudaMemPool_t imported = nullptr;
  EXPECT_OK(cudaMemPoolExportToShareableHandle(&file, pool, kFile, 0));
  EXPECT(file >= 0);
  EXPECT_OK(cudaMemPoolImportFromShareableHandle(&imported, Handle(file), kFile, 0));
  EXPECT(imported != nullptr && imported != pool);
  close(file);
  return imported;
}

// effect: cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
// effect: cudaMemPoolExportPointer cudaMemPoolImportPointer
// effect: cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
// effect: cuMemPoolExportPointer cuMemPoolImportPointer
CASE(SameBytes) {
  cudaMemPool_t pool = NewPool(kFile);
  cudaMemPool_t imported = Import(pool);
  void* memory = nullptr;
  void* same = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream));
  EXPECT_OK(cudaMemsetAsync(memory, 5, kBytes, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  cudaMemPoolPtrExportData data = {};
  EXPECT_OK(cudaMemPoolExportPointer(&data, memory));
  EXPECT_OK(cudaMemPoolImportPointer(&same, imported, &data));
  char last = 0;
  EXPECT_OK(cudaMemcpy(&last, static_cast<char*>(same) + kBytes - 1, 1, cudaMemcpyDeviceToHost));
  EXPECT(last == 5);

  // The imported pool gives no memory of its own.
  void* more = nullptr;
  EXPECT_FAILS(cudaMallocFromPoolAsync(&more, kBytes, imported, stream));
  EXPECT_FAILS(cudaDeviceSetMemPool(0, imported));
  // The import is freed first, then the memory.
  EXPECT_OK(cudaFreeAsync(same, stream));
  EXPECT_OK(cudaMemsetAsync(memory, 6, kBytes, stream));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolImportPointer(&same, imported, &data)));
  ON_SOFT(EXPECT_OK(cudaMemPoolDestroy(imported)));
  EXPECT_OK(cudaMemPoolDestroy(pool));
  (void)cudaGetLastError();
}

CASE(OfTheDriver) {
  cudaMemPool_t pool = NewPool(kFile);
  int file = -1;
  CUmemoryPool imported = nullptr;
  const auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT_OK(cuMemPoolExportToShareableHandle(&file, pool, type, 0));
  EXPECT_OK(cuMemPoolImportFromShareableHandle(&imported, Handle(file), type, 0));
  void* memory = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream));
  CUmemPoolPtrExportData data = {};
  CUdeviceptr same = 0;
  EXPECT_OK(cuMemPoolExportPointer(&data, reinterpret_cast<CUdeviceptr>(memory)));
  EXPECT_OK(cuMemPoolImportPointer(&same, imported, &data));
  EXPECT_OK(cuMemsetD8Async(same, 7, kBytes, stream));
  char first = 0;
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemcpy(&first, memory, 1, cudaMemcpyDeviceToHost));
  EXPECT(first == 7);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle(&file, pool, type, 1));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
               cuMemPoolImportFromShareableHandle(&imported, Handle(file), type, 1));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, 16));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&same, pool, &data));
  EXPECT_OK(cuMemFree(same));
  EXPECT_OK(cudaFree(memory));
  ON_SOFT(EXPECT_OK(cuMemPoolDestroy(imported)));
  EXPECT_OK(cudaMemPoolDestroy(pool));
  close(file);
}

CASE(Refusals) {
  cudaMemPool_t own = NewPool(cudaMemHandleTypeNone);
  cudaMemPool_t pool = NewPool(kFile);
  cudaMemPool_t imported = nullptr;
  int file = -1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolExportToShareableHandle(&file, own, kFile, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolExportToShareableHandle(&file, pool, kFile, 1));
  int pipe_ends[2] = {};
  EXPECT(pipe(pipe_ends) == 0);  // a file, but of nobody's pool
  EXPECT_FAILS(cudaMemPoolImportFromShareableHandle(&imported, Handle(pipe_ends[0]), kFile, 0));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  void* memory = nullptr;
  cudaMemPoolPtrExportData data = {};
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, kBytes, own, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolExportPointer(&data, memory));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaMemPoolDestroy(own));
  EXPECT_OK(cudaMemPoolDestroy(pool));
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  int types = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  EXPECT((types & kFile) != 0);
  conformance::RunCases();
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("pool_share");
}
