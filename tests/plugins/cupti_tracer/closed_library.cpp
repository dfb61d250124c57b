// A library that a program may load and close again: it captures a host function of its own. Where
// it is loaded first, it looks like a Python of a version that nobody knows.
#include <cuda_runtime_api.h>

#include <cstdlib>

namespace {

void Check(cudaError_t error) {
  if (error != cudaSuccess) std::exit(3);
}

void Own(void*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) void Capture() {
  cudaStream_t stream;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Check(cudaLaunchHostFunc(stream, Own, nullptr));
  cudaGraph_t graph;
  Check(cudaStreamEndCapture(stream, &graph));
  Check(cudaGraphDestroy(graph));
  Check(cudaStreamDestroy(stream));
}

extern "C" __attribute__((visibility("default"))) const char* Py_GetVersion() {
  return "3.99.0 (made up)";
}
