// The driver's functions by name and version, and the names of its errors.
#include <cstring>

#include "conformance.h"
#include "older.h"

using namespace conformance;

namespace {

// effect: cuGetErrorName cuGetErrorString
void Errors() {
  const char* text = nullptr;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY") == 0);
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD") == 0);
  EXPECT_OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT(std::strcmp(text, "out of memory") == 0);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT(text == nullptr);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(static_cast<CUresult>(12345), &text));
}

// effect: cuGetProcAddress cuGetProcAddress_v1
void Names() {
  const auto cuGetProcAddress_v1 =
      OfVersion<CUresult (*)(const char*, void**, int, cuuint64_t)>("cuGetProcAddress", 11030);
  void* newest = nullptr;
  void* oldest = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  EXPECT_OK(cuGetProcAddress("cuGraphAddKernelNode", &newest, 12000, CU_GET_PROC_ADDRESS_DEFAULT,
                             &status));
  EXPECT(newest != nullptr && status == CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_OK(cuGetProcAddress_v1("cuGraphAddKernelNode", &oldest, 10000, 0));
  EXPECT(oldest != nullptr && oldest != newest);
  void* again = nullptr;
  EXPECT_OK(cuGetProcAddress_v1("cuGraphAddKernelNode", &again, 12000, 0));
  EXPECT(again == newest);
  void* legacy = nullptr;
  void* per_thread = nullptr;
  EXPECT_OK(cuGetProcAddress("cuLaunchKernel", &legacy, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                             nullptr));
  EXPECT_OK(cuGetProcAddress("cuLaunchKernel", &per_thread, 12000,
                             CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
  EXPECT(legacy != per_thread);
  EXPECT_OK(cuGetProcAddress("cuGraphAddNode", &newest, 10000, 0, &status));
  EXPECT(newest == nullptr && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_OK(cuGetProcAddress("cuNoSuchFunction", &newest, 12000, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_OK(cuGetProcAddress("cuNoSuchFunction", &newest, 12000, 0, nullptr));
  EXPECT(newest == nullptr);
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v1("cuNoSuchFunction", &newest, 12000, 0));
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
                       cuGetProcAddress(nullptr, &newest, 12000, 0, &status)));
}

}  // namespace

int main() {
  Errors();  // works before cuInit
  EXPECT_OK(cuInit(0));
  Names();
  return Finish("driver_entry");
}
