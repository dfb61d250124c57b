// Functions that the software device does not model report it, once, and return "not supported".
// Software device only.
#include <cuda.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "conformance.h"

namespace {

constexpr CUmemAllocationHandleType kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

// Exports memory, writes the file's number to `tell` and waits for the end of `stop`.
void Export(int tell, int stop) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = kFile;
  CUmemGenericAllocationHandle memory = 0;
  int file = -1;
  EXPECT_OK(cudaFree(nullptr));
  EXPECT_OK(cuMemCreate(&memory, size_t{2} << 20, &properties, 0));
  EXPECT_OK(cuMemExportToShareableHandle(&file, memory, kFile, 0));
  EXPECT(write(tell, &file, sizeof file) == sizeof file);
  EXPECT(read(stop, &file, sizeof file) == 0);
}

void MemoryOfAnotherProcess() {
  int tell[2], stop[2], file = -1;
  EXPECT(pipe(tell) == 0 && pipe(stop) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(stop[1]);
    Export(tell[1], stop[0]);
    _exit(0);
  }
  EXPECT(read(tell[0], &file, sizeof file) == sizeof file);
  const std::string path = "/proc/" + std::to_string(child) + "/fd/" + std::to_string(file);
  const int other = open(path.c_str(), O_RDWR);
  EXPECT(other >= 0);
  EXPECT_OK(cudaFree(nullptr));
  CUmemGenericAllocationHandle memory = 0;
  void* handle = reinterpret_cast<void*>(static_cast<intptr_t>(other));
  EXPECT_ERROR(CUDA_ERROR_NOT_SUPPORTED, cuMemImportFromShareableHandle(&memory, handle, kFile));
  close(stop[1]);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main() {
  MemoryOfAnotherProcess();
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGetLastError());
  return conformance::Finish("not_modelled");
}
