// Copies to and from arrays: offsets are in bytes and rows in calls with an array, in elements in
// descriptions of volumes.
#include <cstring>
#include <numeric>
#include <vector>

#include "conformance.h"

// Some of these calls are deprecated, and are checked nevertheless.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444

namespace {

// 8 columns, 4 rows, 4 bytes each.
constexpr size_t kColumns = 8;
constexpr size_t kRows = 4;
constexpr size_t kWidth = kColumns * sizeof(int);
constexpr size_t kCount = kColumns * kRows;
constexpr size_t kBytes = kCount * sizeof(int);
const auto kToDevice = cudaMemcpyHostToDevice;
const auto kToHost = cudaMemcpyDeviceToHost;

cudaStream_t stream;

std::vector<int> Numbers(int first = 1) {
  std::vector<int> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

cudaArray_t NewArray(const std::vector<int>& values) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &desc, kColumns, kRows));
  EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, values.data(), kWidth, kWidth, kRows, kToDevice));
  return array;
}

std::vector<int> Read(cudaArray_t array) {
  std::vector<int> values(kCount);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaMemcpy2DFromArray(values.data(), kWidth, array, 0, 0, kWidth, kRows, kToHost));
  return values;
}

// effect: cudaMemcpy2DToArray cudaMemcpy2DFromArray cudaMemcpy2DArrayToArray
CASE(Rows) {
  cudaArray_t array = NewArray(Numbers());
  cudaArray_t other = NewArray(std::vector<int>(kCount));
  EXPECT(Read(array) == Numbers());
  // Two rows of three elements, to column 2 of row 1; the source has rows of four.
  const std::vector<int> patch = {100, 101, 102, -1, 103, 104, 105, -1};
  std::vector<int> want = Numbers();
  for (size_t i = 0; i < 3; ++i) {
    want[kColumns + 2 + i] = patch[i];
    want[2 * kColumns + 2 + i] = patch[4 + i];
  }
  EXPECT_OK(cudaMemcpy2DToArray(array, 8, 1, patch.data(), 16, 12, 2, kToDevice));
  EXPECT(Read(array) == want);
  std::vector<int> got(8, -1);
  EXPECT_OK(cudaMemcpy2DFromArray(got.data(), 16, array, 8, 1, 12, 2, kToHost));
  EXPECT(got == patch);
  EXPECT_OK(cudaMemcpy2DArrayToArray(other, 0, 2, array, 8, 1, 12, 2));
  std::vector<int> there = Read(other);
  EXPECT(there[2 * kColumns] == 100 && there[2 * kColumns + 2] == 102);
  EXPECT(there[2 * kColumns + 3] == 0 && there[3 * kColumns + 1] == 104);

  const void* from = patch.data();
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2DToArray(array, 0, 0, from, 8, 12, 2, kToDevice));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue,
                       cudaMemcpy2DToArray(array, 0, 0, from, size_t{1} << 33, 12, 1, kToDevice)));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2DToArray(array, 24, 0, from, 16, 12, 1, kToDevice));  // beyond the row
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2DToArray(array, 0, 3, from, 16, 12, 2, kToDevice));  // beyond the rows
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpy2DToArray(array, 0, 0, from, 16, 12, 1, cudaMemcpyKind(9)));
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2DFromArray(got.data(), 8, array, 0, 0, 12, 2, kToHost));
  ON_SOFT(
      EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy2DFromArray(got.data(), 16, array, 6, 0, 12, 1,
                                                                kToHost)));  // in an element
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy2DArrayToArray(other, 0, 3, array, 0, 0, 12, 2));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeArray(other));
  (void)cudaGetLastError();
}

// effect: cudaMemcpy2DToArrayAsync cudaMemcpy2DFromArrayAsync
CASE(RowsInAStream) {
  cudaArray_t array = NewArray(std::vector<int>(kCount));
  int* pinned = nullptr;
  EXPECT_OK(cudaMallocHost(&pinned, 2 * kBytes));
  std::memcpy(pinned, Numbers(5).data(), kBytes);
  EXPECT_OK(
      cudaMemcpy2DToArrayAsync(array, 0, 0, pinned, kWidth, kWidth, kRows, kToDevice, stream));
  EXPECT_OK(cudaMemcpy2DFromArrayAsync(pinned + kCount, kWidth, array, 0, 0, kWidth, kRows, kToHost,
                                       stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(std::memcmp(pinned, pinned + kCount, kBytes) == 0);
  EXPECT_FAILS(cudaMemcpy2DToArrayAsync(array, 0, 0, pinned, 4, kWidth, 1, kToDevice, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy2DFromArrayAsync(pinned, kWidth, array, 0, 1,
                                                                 kWidth, kRows, kToHost, stream));
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

// A run of bytes goes on in the next row.
// effect: cudaMemcpyToArray cudaMemcpyFromArray cudaMemcpyArrayToArray
CASE(Runs) {
  cudaArray_t array = NewArray(std::vector<int>(kCount));
  const std::vector<int> numbers = Numbers();
  // 20 elements from column 6 of row 0: 2 in it, 16 in two full rows, 2 in the last.
  EXPECT_OK(cudaMemcpyToArray(array, 24, 0, numbers.data(), 80, kToDevice));
  std::vector<int> want(kCount);
  std::copy(numbers.begin(), numbers.begin() + 20, want.begin() + 6);
  EXPECT(Read(array) == want);
  std::vector<int> got(20);
  EXPECT_OK(cudaMemcpyFromArray(got.data(), array, 24, 0, 80, kToHost));
  EXPECT(got == std::vector<int>(numbers.begin(), numbers.begin() + 20));
  cudaArray_t other = NewArray(std::vector<int>(kCount));
  EXPECT_OK(cudaMemcpyArrayToArray(other, 4, 1, array, 24, 0, 80));
  std::vector<int> moved(kCount);
  std::copy(numbers.begin(), numbers.begin() + 20, moved.begin() + kColumns + 1);
  EXPECT(Read(other) == moved);

  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToArray(array, 0, 3, got.data(), 80, kToDevice));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpyToArray(array, 0, 0, got.data(), 80, cudaMemcpyKind(9))));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyFromArray(got.data(), array, 0, 3, 80, kToHost));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpyArrayToArray(other, 0, 0, array, 0, 0, 80, cudaMemcpyKind(9)));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeArray(other));
  (void)cudaGetLastError();
}

// effect: cudaMemcpyToArrayAsync cudaMemcpyFromArrayAsync
CASE(RunsInAStream) {
  cudaArray_t array = NewArray(std::vector<int>(kCount));
  int* pinned = nullptr;
  EXPECT_OK(cudaMallocHost(&pinned, 2 * kBytes));
  std::memcpy(pinned, Numbers(9).data(), kBytes);
  EXPECT_OK(cudaMemcpyToArrayAsync(array, 0, 0, pinned, kBytes, kToDevice, stream));
  EXPECT_OK(cudaMemcpyFromArrayAsync(pinned + kCount, array, 4, 1, 40, kToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(std::memcmp(pinned + kColumns + 1, pinned + kCount, 40) == 0);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpyToArrayAsync(array, 0, 3, pinned, kBytes, kToDevice, stream));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpyFromArrayAsync(pinned, array, 0, 3, kBytes, kToHost, stream));
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

cudaMemcpy3DParms ToVolume(cudaArray_t array, const std::vector<short>& from) {
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(const_cast<short*>(from.data()), 8, 8, 3);
  parms.dstArray = array;
  parms.extent = make_cudaExtent(4, 3, 2);
  parms.kind = kToDevice;
  return parms;
}

// effect: cudaMemcpy3D cudaMemcpy3DAsync cudaMemcpy3DPeer cudaMemcpy3DPeerAsync
CASE(Volumes) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<short>();
  cudaArray_t array = nullptr;
  cudaArray_t other = nullptr;
  EXPECT_OK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(6, 5, 4)));
  EXPECT_OK(cudaMalloc3DArray(&other, &desc, make_cudaExtent(6, 5, 4)));
  std::vector<short> from(24);
  std::vector<short> got(24);
  std::iota(from.begin(), from.end(), short{1});
  cudaMemcpy3DParms parms = ToVolume(array, from);
  parms.dstPos = make_cudaPos(2, 1, 1);  // in elements
  EXPECT_OK(cudaMemcpy3D(&parms));
  cudaMemcpy3DParms between = {};
  between.srcArray = array;
  between.dstArray = other;
  between.srcPos = make_cudaPos(2, 1, 1);
  between.extent = parms.extent;
  between.kind = cudaMemcpyDeviceToDevice;
  EXPECT_OK(cudaMemcpy3DAsync(&between, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  cudaMemcpy3DParms back = {};
  back.srcArray = other;
  back.dstPtr = make_cudaPitchedPtr(got.data(), 8, 8, 3);
  back.extent = parms.extent;
  back.kind = kToHost;
  EXPECT_OK(cudaMemcpy3D(&back));
  EXPECT(got == from);

  cudaMemcpy3DPeerParms peer = {};
  peer.srcArray = other;
  peer.dstArray = array;
  peer.extent = parms.extent;
  EXPECT_OK(cudaMemcpy3DPeer(&peer));
  peer.dstPos = make_cudaPos(0, 0, 2);
  EXPECT_OK(cudaMemcpy3DPeerAsync(&peer, stream));
  EXPECT_OK(cudaDeviceSynchronize());
  for (size_t z : {0, 2}) {
    back.srcArray = array;
    back.srcPos = make_cudaPos(0, 0, z);
    got.assign(24, 0);
    EXPECT_OK(cudaMemcpy3D(&back));
    EXPECT(got == from);
  }

  back.extent.depth = 3;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&back));  // beyond the array
  parms.dstPtr = parms.srcPtr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&parms));  // an array and a pointer
  parms = ToVolume(array, from);
  parms.srcPtr.pitch = 6;
  EXPECT_FAILS(cudaMemcpy3D(&parms));
  peer.dstPos = make_cudaPos(0, 0, 3);
  EXPECT_FAILS(cudaMemcpy3DPeer(&peer));
  EXPECT_FAILS(cudaMemcpy3DPeerAsync(&peer, stream));
  cudaArray_t bytes = nullptr;
  const cudaChannelFormatDesc single = cudaCreateChannelDesc<char>();
  EXPECT_OK(cudaMalloc3DArray(&bytes, &single, make_cudaExtent(6, 5, 4)));
  between.dstArray = bytes;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&between));  // elements of another size
  EXPECT_OK(cudaFreeArray(bytes));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeArray(other));
  (void)cudaGetLastError();
}

cudaMemcpy3DOperand Operand(void* memory, size_t row = 0) {
  cudaMemcpy3DOperand operand = {};
  operand.type = cudaMemcpyOperandTypePointer;
  operand.op.ptr.ptr = memory;
  operand.op.ptr.rowLength = row;
  return operand;
}

cudaMemcpy3DOperand Operand(cudaArray_t array, size_t x, size_t y) {
  cudaMemcpy3DOperand operand = {};
  operand.type = cudaMemcpyOperandTypeArray;
  operand.op.array.array = array;
  operand.op.array.offset = {x, y, 0};
  return operand;
}

// effect: cudaMemcpy3DBatchAsync
CASE(Batch) {
  cudaArray_t array = NewArray(Numbers());
  int* pinned = nullptr;
  EXPECT_OK(cudaMallocHost(&pinned, kBytes));
  std::memset(pinned, 0, kBytes);
  cudaMemcpy3DBatchOp ops[2] = {};
  ops[0].src = Operand(array, 1, 1);
  ops[0].dst = Operand(pinned, 4);  // rows of four elements
  ops[0].extent = make_cudaExtent(3, 2, 1);
  ops[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  ops[1].src = Operand(array, 0, 3);
  ops[1].dst = Operand(pinned + 8);
  ops[1].extent = make_cudaExtent(2, 1, 1);
  ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
  EXPECT_OK(cudaMemcpy3DBatchAsync(2, ops, 0, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT((std::vector<int>(pinned, pinned + 10) ==
          std::vector<int>{10, 11, 12, 0, 18, 19, 20, 0, 25, 26}));

  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMemcpy3DBatchAsync(2, ops, 0, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));  // as after cudaMemcpyBatchAsync
  EXPECT_OK(cudaGraphDestroy(graph));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, ops, 1, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, nullptr, 0, stream));
  ops[1].extent.depth = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, ops, 0, stream));
  ops[1].extent.depth = 1;
  ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, ops, 0, stream));
  ops[0].dst = Operand(pinned, 2);  // rows shorter than what is copied
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(1, ops, 0, stream));
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

CASE(Levels) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
  cudaMipmappedArray_t whole = nullptr;
  cudaArray_t levels[2] = {};
  EXPECT_OK(
      cudaMallocMipmappedArray(&whole, &desc, make_cudaExtent(2 * kColumns, 2 * kRows, 0), 2));
  EXPECT_OK(cudaGetMipmappedArrayLevel(&levels[0], whole, 0));
  EXPECT_OK(cudaGetMipmappedArrayLevel(&levels[1], whole, 1));
  EXPECT_OK(
      cudaMemcpy2DToArray(levels[0], 0, 0, Numbers(50).data(), kWidth, kWidth, kRows, kToDevice));
  EXPECT_OK(
      cudaMemcpy2DToArray(levels[1], 0, 0, Numbers(90).data(), kWidth, kWidth, kRows, kToDevice));
  EXPECT(Read(levels[0]) == Numbers(50) && Read(levels[1]) == Numbers(90));
  EXPECT_OK(cudaFreeMipmappedArray(whole));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  conformance::RunCases();
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("array_copy");
}
