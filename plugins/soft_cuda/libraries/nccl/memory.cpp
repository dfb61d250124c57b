// Memory that NCCL allocates, and buffers that are registered with it: nothing follows from that.
#include <new>

#include "plugins/soft_cuda/libraries/nccl/communicator.h"

using namespace graphkit::soft::nccl;

namespace {

struct Registration {
  void* buffer;
};

int Register(const Communicator* communicator, void* buffer, Registration** out) {
  if (communicator == nullptr || out == nullptr) return kInvalidArgument;
  *out = new (std::nothrow) Registration{buffer};
  return *out != nullptr ? kSuccess : kSystemError;
}

}  // namespace

extern "C" {

STAND_IN int ncclMemAlloc(void** memory, size_t bytes) {
  if (memory == nullptr || bytes == 0) return kInvalidArgument;
  CUdeviceptr at = 0;
  if (cuMemAlloc(&at, bytes) != CUDA_SUCCESS) return kCudaError;
  *memory = reinterpret_cast<void*>(at);
  return kSuccess;
}
STAND_IN int ncclMemFree(void* memory) {
  const CUresult result = cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  return result == CUDA_SUCCESS ? kSuccess : kCudaError;
}
STAND_IN int ncclCommRegister(const Communicator* communicator, void* buffer, size_t,
                              Registration** out) {
  return Register(communicator, buffer, out);
}
STAND_IN int ncclCommDeregister(const Communicator*, Registration* registration) {
  delete registration;
  return kSuccess;
}
STAND_IN int ncclCommWindowRegister(const Communicator* communicator, void* buffer, size_t,
                                    Registration** out, int) {
  return Register(communicator, buffer, out);
}
STAND_IN int ncclCommWindowDeregister(const Communicator*, Registration* registration) {
  delete registration;
  return kSuccess;
}
STAND_IN int ncclWinGetUserPtr(const Communicator*, const Registration* window, void** out) {
  if (window == nullptr || out == nullptr) return kInvalidArgument;
  *out = window->buffer;
  return kSuccess;
}
}
