// Pitched memory, and the rules of copies and fills of rows.
#include <vector>

#include "conformance.h"

namespace {

constexpr size_t kWidth = 100;
constexpr size_t kRows = 8;
constexpr size_t kTooWide = size_t{1} << 33;  // beyond every device's limit of a pitch
const auto kIn = cudaMemcpyHostToDevice;
const auto kOut = cudaMemcpyDeviceToHost;
const auto kNoKind = static_cast<cudaMemcpyKind>(9);

std::vector<unsigned char> Numbers(size_t count) {
  std::vector<unsigned char> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<unsigned char>(i * 7 + 1);
  return numbers;
}

// effect: cudaMallocPitch cudaMemcpy2D
CASE(Rows) {
  char* memory = nullptr;
  size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(&memory, &pitch, kWidth, kRows));
  EXPECT(pitch >= kWidth);
  const std::vector<unsigned char> from = Numbers(kWidth * kRows);
  std::vector<unsigned char> to(kWidth * kRows);
  EXPECT_OK(cudaMemcpy2D(memory, pitch, from.data(), kWidth, kWidth, kRows, kIn));
  EXPECT_OK(cudaMemcpy2D(to.data(), kWidth, memory, pitch, kWidth, kRows, kOut));
  EXPECT(to == from);
  unsigned char one = 0;
  EXPECT_OK(cudaMemcpy(&one, memory + 3 * pitch + 5, 1, kOut));
  EXPECT(one == from[3 * kWidth + 5]);

  void* host = to.data();
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(host, kWidth - 1, memory, pitch, kWidth, kRows, kOut));
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(host, kWidth, memory, kWidth - 1, kWidth, kRows, kOut));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue,
                       cudaMemcpy2D(host, kTooWide, memory, pitch, kWidth, kRows, kOut)));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2D(host, kWidth, memory, kTooWide, kWidth, kRows, kOut));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpy2D(host, kWidth, memory, pitch, kWidth, kRows, kNoKind));
  EXPECT_OK(cudaFree(memory));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocPitch(&memory, nullptr, kWidth, kRows));
  EXPECT_FAILS(cudaMallocPitch(&memory, &pitch, kWidth, size_t{1} << 60));
  (void)cudaGetLastError();
}

cudaMemcpy3DParms Parms(const cudaPitchedPtr& to, const cudaPitchedPtr& from,
                        const cudaExtent& extent, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = from;
  parms.dstPtr = to;
  parms.extent = extent;
  parms.kind = kind;
  return parms;
}

// effect: cudaMalloc3D cudaMemcpy3D
CASE(Volumes) {
  const cudaExtent extent = make_cudaExtent(20, 3, 4);
  cudaPitchedPtr volume = {};
  EXPECT_OK(cudaMalloc3D(&volume, extent));
  EXPECT(volume.pitch >= 20 && volume.xsize == 20 && volume.ysize == 3);
  std::vector<unsigned char> from = Numbers(20 * 3 * 4);
  std::vector<unsigned char> to(20 * 3 * 4);
  const cudaPitchedPtr source = make_cudaPitchedPtr(from.data(), 20, 20, 3);
  const cudaPitchedPtr target = make_cudaPitchedPtr(to.data(), 20, 20, 3);
  cudaMemcpy3DParms parms = Parms(volume, source, extent, kIn);
  EXPECT_OK(cudaMemcpy3D(&parms));
  parms = Parms(target, volume, extent, kOut);
  EXPECT_OK(cudaMemcpy3D(&parms));
  EXPECT(to == from);
  // A part, from (4, 1, 2) to the beginning.
  parms.srcPos = make_cudaPos(4, 1, 2);
  parms.extent = make_cudaExtent(6, 2, 2);
  EXPECT_OK(cudaMemcpy3D(&parms));
  EXPECT(to[0] == from[(2 * 3 + 1) * 20 + 4] && to[3 * 20 + 20 + 5] == from[(3 * 3 + 2) * 20 + 9]);

  const cudaMemcpy3DParms good = Parms(target, volume, extent, kOut);
  const auto fails = [&good](auto change) {
    cudaMemcpy3DParms wrong = good;
    change(wrong);
    const cudaError_t error = cudaMemcpy3D(&wrong);
    (void)cudaGetLastError();
    return error;
  };
  using Parms3D = cudaMemcpy3DParms;
  EXPECT(fails([](Parms3D& p) { p.kind = kNoKind; }) == cudaErrorInvalidMemcpyDirection);
  EXPECT(fails([](Parms3D& p) { p.srcPtr.ptr = nullptr; }) == cudaErrorInvalidValue);
  EXPECT(fails([](Parms3D& p) { p.dstPtr.ptr = nullptr; }) == cudaErrorInvalidValue);
  EXPECT(fails([](Parms3D& p) { p.dstPtr.pitch = 19; }) == cudaErrorInvalidPitchValue);
  EXPECT(fails([](Parms3D& p) { p.srcPtr.pitch = kTooWide; }) == cudaErrorInvalidValue);
  EXPECT(fails([](Parms3D& p) { p.srcPtr.ysize = 2; }) != cudaSuccess);
  EXPECT(fails([](Parms3D& p) { p.srcPos.z = 1; }) != cudaSuccess);  // beyond the allocation
  EXPECT_OK(cudaFree(volume.ptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMalloc3D(nullptr, extent));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
  (void)cudaGetLastError();
}

// Device memory must hold all that is moved or filled.
// effect: cudaMemset2D cudaMemcpy
CASE(WithinAllocations) {
  char* memory = nullptr;
  std::vector<char> host(1 << 21);
  EXPECT_OK(cudaMalloc(&memory, 1 << 20));
  EXPECT_OK(cudaMemcpy(memory, host.data(), 1 << 20, kIn));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(memory, host.data(), 1 << 21, kIn));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(memory + 1024, host.data(), 1 << 20, kIn));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(memory, 0, 1 << 21));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2D(memory, 4096, host.data(), 64, 64, 1024, kIn));  // 256 rows are there
  EXPECT_OK(cudaMemset2D(memory, 4096, 3, 64, 256));
  char last = 0;
  EXPECT_OK(cudaMemcpy(&last, memory + 255 * 4096 + 63, 1, kOut));
  EXPECT(last == 3);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(memory, 4096, 3, 64, 257 + 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(memory, 32, 3, 64, 2));  // rows overlap
  EXPECT_OK(cudaMemset2D(memory, 32, 3, 64, 1));  // the pitch of a single row says nothing
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16(address, 101, 1, 8, 2));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(address, 102, 1, 8, 2));
  EXPECT_OK(cudaFree(memory));
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  conformance::RunCases();
  return conformance::Finish("pitched");
}
