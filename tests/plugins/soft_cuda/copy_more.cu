// Copies between devices by name, copies in batches, fills of volumes.
#include <cstring>

#include "conformance.h"

namespace {

constexpr size_t kBytes = 4096;
cudaStream_t stream;
char* from;
char* to;

bool Holds(const char* device, char value) {
  char host[kBytes];
  EXPECT_OK(cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost));
  for (char c : host) {
    if (c != value) return false;
  }
  return true;
}

void Prepare(char value) {
  EXPECT_OK(cudaMemset(from, value, kBytes));
  EXPECT_OK(cudaMemset(to, 0, kBytes));
  EXPECT_OK(cudaDeviceSynchronize());
}

// effect: cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemcpy3DPeer cudaMemcpy3DPeerAsync
CASE(BetweenDevices) {
  Prepare(1);
  EXPECT_OK(cudaMemcpyPeer(to, 0, from, 0, kBytes));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(Holds(to, 1));
  Prepare(2);
  EXPECT_OK(cudaMemcpyPeerAsync(to, 0, from, 0, kBytes, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Holds(to, 2));
  cudaMemcpy3DPeerParms volume = {};
  volume.srcPtr = make_cudaPitchedPtr(from, 64, 64, 8);
  volume.dstPtr = make_cudaPitchedPtr(to, 64, 64, 8);
  volume.extent = make_cudaExtent(64, 8, 8);
  Prepare(3);
  EXPECT_OK(cudaMemcpy3DPeer(&volume));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(Holds(to, 3));
  Prepare(4);
  EXPECT_OK(cudaMemcpy3DPeerAsync(&volume, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Holds(to, 4));

  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemcpyPeer(to, 0, from, 1000, kBytes));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(to, 1000, from, 0, kBytes, stream));
  volume.srcDevice = 1000;
  EXPECT_FAILS(cudaMemcpy3DPeer(&volume));
  EXPECT_FAILS(cudaMemcpy3DPeerAsync(&volume, stream));
}

// effect: cudaMemcpyBatchAsync
CASE(Batch) {
  Prepare(5);
  void* targets[] = {to, to + kBytes / 2};
  const void* sources[] = {from, from + kBytes / 2};
  size_t sizes[] = {kBytes / 2, kBytes / 2};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t index = 0;
  EXPECT_OK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Holds(to, 5));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpyBatchAsync(targets, sources, sizes, 0, &attributes, &index, 1, stream));

  // There is no node of it, and the capture goes on without the copies (docs/soft-device.md,
  // "Calls that no capture records").
  cudaGraph_t graph = nullptr;
  size_t nodes = 1;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
               cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
  (void)cudaGetLastError();
}

// effect: cudaMemset3D cudaMemset3DAsync
CASE(Volumes) {
  const cudaPitchedPtr volume = make_cudaPitchedPtr(to, 64, 64, 8);
  Prepare(0);
  EXPECT_OK(cudaMemset3D(volume, 6, make_cudaExtent(64, 8, 8)));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(Holds(to, 6));
  // A part: 2 of the 8 rows of each of the first 2 slices.
  EXPECT_OK(cudaMemset3DAsync(volume, 7, make_cudaExtent(64, 2, 2), stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  char host[kBytes];
  EXPECT_OK(cudaMemcpy(host, to, kBytes, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 7 && host[127] == 7 && host[128] == 6);
  EXPECT(host[512] == 7 && host[640] == 6 && host[1024] == 6);
  const cudaExtent wide = make_cudaExtent(65, 8, 8);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset3D(volume, 6, wide));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset3DAsync(volume, 6, wide, stream));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMalloc(&from, kBytes));
  EXPECT_OK(cudaMalloc(&to, kBytes));
  conformance::RunCases();
  EXPECT_OK(cudaFree(from));
  EXPECT_OK(cudaFree(to));
  return conformance::Finish("copy_more");
}
