// The driver's own array functions: what the runtime's are made of.
#include <cstring>
#include <numeric>
#include <vector>

#include "conformance.h"

#define EXPECT_CU(call) EXPECT((call) == CUDA_SUCCESS)

namespace {

CUstream stream;

CUDA_ARRAY3D_DESCRIPTOR Shape(size_t width, size_t height = 0, size_t depth = 0,
                              unsigned flags = 0) {
  CUDA_ARRAY3D_DESCRIPTOR shape = {};
  shape.Width = width;
  shape.Height = height;
  shape.Depth = depth;
  shape.Format = CU_AD_FORMAT_UNSIGNED_INT16;
  shape.NumChannels = 2;
  shape.Flags = flags;
  return shape;
}

CUarray NewArray(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  CUarray array = nullptr;
  EXPECT_CU(cuArray3DCreate(&array, &shape));
  return array;
}

// effect: cuArrayCreate cuArrayDestroy cuArrayGetDescriptor cuArray3DCreate cuArray3DGetDescriptor
CASE(Shapes) {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR flat = {64, 16, CU_AD_FORMAT_FLOAT, 4};
  EXPECT_CU(cuArrayCreate(&array, &flat));
  CUDA_ARRAY_DESCRIPTOR told = {};
  CUDA_ARRAY3D_DESCRIPTOR deep = {};
  EXPECT_CU(cuArrayGetDescriptor(&told, array));
  EXPECT(told.Width == 64 && told.Height == 16 && told.NumChannels == 4);
  EXPECT(told.Format == CU_AD_FORMAT_FLOAT);
  EXPECT_CU(cuArray3DGetDescriptor(&deep, array));
  EXPECT(deep.Width == 64 && deep.Height == 16 && deep.Depth == 0 && deep.Flags == 0);
  EXPECT_CU(cuArrayDestroy(array));
  array = NewArray(Shape(8, 4, 6, CUDA_ARRAY3D_LAYERED));
  EXPECT_CU(cuArray3DGetDescriptor(&deep, array));
  EXPECT(deep.Depth == 6 && deep.Flags == CUDA_ARRAY3D_LAYERED);
  EXPECT_CU(cuArrayDestroy(array));

  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuArrayGetDescriptor(&told, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&deep, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(nullptr, &flat));
  flat.NumChannels = 3;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &flat));
  flat.NumChannels = 4;
  flat.Format = static_cast<CUarray_format>(0x7f);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &flat));
  const CUDA_ARRAY3D_DESCRIPTOR no_cube = Shape(8, 4, 6, CUDA_ARRAY3D_CUBEMAP);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &no_cube));
}

// effect: cuMipmappedArrayCreate cuMipmappedArrayGetLevel cuMipmappedArrayDestroy cuArrayGetPlane
CASE(Parts) {
  CUmipmappedArray whole = nullptr;
  CUarray part = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR shape = Shape(32, 8, 4);
  EXPECT_CU(cuMipmappedArrayCreate(&whole, &shape, 3));
  EXPECT_CU(cuMipmappedArrayGetLevel(&part, whole, 2));
  EXPECT_CU(cuArray3DGetDescriptor(&shape, part));
  EXPECT(shape.Width == 8 && shape.Height == 2 && shape.Depth == 1);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&part, whole, 3));
  EXPECT_CU(cuMipmappedArrayDestroy(whole));
  EXPECT_ERROR(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&whole, nullptr, 3));
  if (!conformance::OnSoftDevice()) return;  // an H200 refuses the format
  shape = Shape(32, 8);
  shape.Format = CU_AD_FORMAT_NV12;
  shape.NumChannels = 3;
  CUarray planar = NewArray(shape);
  EXPECT_CU(cuArrayGetPlane(&part, planar, 1));
  EXPECT_CU(cuArray3DGetDescriptor(&shape, part));
  EXPECT(shape.Width == 16 && shape.Height == 4 && shape.NumChannels == 2);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayGetPlane(&part, planar, 2));
  EXPECT_CU(cuArrayDestroy(planar));
}

// effect: cuArrayGetSparseProperties cuArrayGetMemoryRequirements
// effect: cuMipmappedArrayGetSparseProperties cuMipmappedArrayGetMemoryRequirements
CASE(WithoutMemory) {
  CUDA_ARRAY_SPARSE_PROPERTIES properties = {};
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs = {};
  CUarray sparse = NewArray(Shape(1024, 1024, 0, CUDA_ARRAY3D_SPARSE));
  CUarray deferred = NewArray(Shape(256, 256, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
  EXPECT_CU(cuArrayGetSparseProperties(&properties, sparse));
  EXPECT(properties.tileExtent.width > 0 && properties.tileExtent.depth == 1);
  EXPECT_CU(cuArrayGetMemoryRequirements(&needs, deferred, 0));
  EXPECT(needs.size >= 256 * 256 * 4 && needs.alignment > 0);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayGetSparseProperties(&properties, deferred));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuArrayGetMemoryRequirements(&needs, sparse, 0));
  CUmipmappedArray whole = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR shape = Shape(1024, 1024, 0, CUDA_ARRAY3D_SPARSE);
  EXPECT_CU(cuMipmappedArrayCreate(&whole, &shape, 11));
  EXPECT_CU(cuMipmappedArrayGetSparseProperties(&properties, whole));
  EXPECT(properties.miptailFirstLevel < 11 && properties.miptailSize > 0);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetMemoryRequirements(&needs, whole, 0));
  EXPECT_CU(cuMipmappedArrayDestroy(whole));
  shape.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
  EXPECT_CU(cuMipmappedArrayCreate(&whole, &shape, 2));
  EXPECT_CU(cuMipmappedArrayGetMemoryRequirements(&needs, whole, 0));
  EXPECT(needs.size >= 1024 * 1024 * 5);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetSparseProperties(&properties, whole));
  EXPECT_CU(cuMipmappedArrayDestroy(whole));
  EXPECT_CU(cuArrayDestroy(sparse));
  EXPECT_CU(cuArrayDestroy(deferred));
}

std::vector<unsigned> Numbers(unsigned first) {
  std::vector<unsigned> numbers(16);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// effect: cuMemcpyHtoA cuMemcpyAtoH cuMemcpyDtoA cuMemcpyAtoD cuMemcpyAtoA
// effect: cuMemcpyHtoAAsync cuMemcpyAtoHAsync
CASE(Rows) {
  CUarray array = NewArray(Shape(16));
  CUarray other = NewArray(Shape(16));
  CUdeviceptr memory = 0;
  EXPECT_CU(cuMemAlloc(&memory, 64));
  const std::vector<unsigned> numbers = Numbers(1);
  std::vector<unsigned> got(16);
  EXPECT_CU(cuMemcpyHtoA(array, 0, numbers.data(), 64));
  EXPECT_CU(cuMemcpyAtoA(other, 8, array, 0, 56));
  EXPECT_CU(cuMemcpyAtoD(memory, other, 8, 56));
  EXPECT_CU(cuMemcpyDtoA(array, 4, memory, 56));
  EXPECT_CU(cuMemcpyAtoH(got.data(), array, 4, 56));
  EXPECT(std::memcmp(got.data(), numbers.data(), 56) == 0);
  unsigned* pinned = nullptr;
  EXPECT_CU(cuMemAllocHost(reinterpret_cast<void**>(&pinned), 128));
  std::memcpy(pinned, Numbers(40).data(), 64);
  EXPECT_CU(cuMemcpyHtoAAsync(array, 0, pinned, 64, stream));
  EXPECT_CU(cuMemcpyAtoHAsync(pinned + 16, array, 0, 64, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(std::memcmp(pinned, pinned + 16, 64) == 0);

  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(array, 4, pinned, 64));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(pinned, array, 0, 68));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoA(array, 0, 0, 64));
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
                       cuMemcpyAtoD(memory, array, 0, 6)));  // half an element
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoA(other, 2, array, 0, 8)));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoAAsync(array, 4, pinned, 64, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoHAsync(pinned, array, 4, 64, stream));
  EXPECT_CU(cuMemFreeHost(pinned));
  EXPECT_CU(cuMemFree(memory));
  EXPECT_CU(cuArrayDestroy(array));
  EXPECT_CU(cuArrayDestroy(other));
}

CUDA_MEMCPY2D IntoArray(CUarray array, const void* from) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstXInBytes = 8;
  copy.dstY = 1;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  return copy;
}

CUDA_MEMCPY2D Back(const CUDA_MEMCPY2D& there, void* to) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = there.dstArray;
  copy.srcXInBytes = there.dstXInBytes;
  copy.srcY = there.dstY;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.dstPitch = 16;
  copy.WidthInBytes = there.WidthInBytes;
  copy.Height = there.Height;
  return copy;
}

// effect: cuMemcpy2D cuMemcpy2DUnaligned cuMemcpy2DAsync
CASE(Planes) {
  CUarray array = NewArray(Shape(8, 4));
  const std::vector<unsigned> numbers = Numbers(7);
  std::vector<unsigned> got(8);
  CUDA_MEMCPY2D in = IntoArray(array, numbers.data());
  CUDA_MEMCPY2D out = Back(in, got.data());
  EXPECT_CU(cuMemcpy2D(&in));
  EXPECT_CU(cuMemcpy2D(&out));
  EXPECT(std::memcmp(got.data(), numbers.data(), 32) == 0);
  in.srcHost = numbers.data() + 8;
  EXPECT_CU(cuMemcpy2DUnaligned(&in));
  EXPECT_CU(cuMemcpy2DAsync(&out, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(std::memcmp(got.data(), numbers.data() + 8, 32) == 0);

  in.dstY = 3;  // one row is left
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&in));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DUnaligned(&in));
  out.dstPitch = 12;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DAsync(&out, stream));
  EXPECT_CU(cuArrayDestroy(array));
}

CUDA_MEMCPY3D Between(CUarray to, CUarray from) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = from;
  copy.dstArray = to;
  copy.dstZ = 1;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  copy.Depth = 2;
  return copy;
}

CUDA_MEMCPY3D IntoVolume(CUarray to, const void* from) {
  CUDA_MEMCPY3D copy = Between(to, nullptr);
  copy.dstZ = 0;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.srcPitch = 16;
  copy.srcHeight = 2;
  return copy;
}

CUDA_MEMCPY3D OutOfVolume(CUarray from, size_t z, void* to) {
  CUDA_MEMCPY3D copy = Between(nullptr, from);
  copy.srcZ = z;
  copy.dstZ = 0;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.dstPitch = 16;
  copy.dstHeight = 2;
  return copy;
}

// effect: cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync
CASE(Volumes) {
  CUarray array = NewArray(Shape(4, 2, 3));
  CUarray other = NewArray(Shape(4, 2, 3));
  const std::vector<unsigned> numbers = Numbers(3);
  std::vector<unsigned> got(16);
  CUDA_MEMCPY3D in = IntoVolume(array, numbers.data());
  CUDA_MEMCPY3D between = Between(other, array);
  CUDA_MEMCPY3D out = OutOfVolume(other, 1, got.data());
  EXPECT_CU(cuMemcpy3D(&in));
  EXPECT_CU(cuMemcpy3DAsync(&between, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_CU(cuMemcpy3D(&out));
  EXPECT(got == numbers);

  CUDA_MEMCPY3D_PEER peer = {};
  EXPECT_CU(cuCtxGetCurrent(&peer.srcContext));
  peer.dstContext = peer.srcContext;
  peer.srcMemoryType = peer.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  peer.srcArray = other;
  peer.srcZ = 1;
  peer.dstArray = other;
  peer.WidthInBytes = 16;
  peer.Height = 2;
  peer.Depth = 1;
  EXPECT_CU(cuMemcpy3DPeer(&peer));
  peer.dstArray = array;
  peer.dstZ = 2;
  EXPECT_CU(cuMemcpy3DPeerAsync(&peer, stream));
  EXPECT_CU(cuCtxSynchronize());
  out = OutOfVolume(array, 1, got.data());
  EXPECT_CU(cuMemcpy3D(&out));
  EXPECT(std::memcmp(got.data() + 8, numbers.data(), 32) == 0);

  in.srcLOD = 1;
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&in)));
  between.dstZ = 2;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&between, stream));
  peer.dstZ = 3;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeer(&peer));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeerAsync(&peer, stream));
  EXPECT_CU(cuArrayDestroy(array));
  EXPECT_CU(cuArrayDestroy(other));
}

// effect: cuMemcpy3DBatchAsync
CASE(Batch) {
  CUarray array = NewArray(Shape(16));
  CUdeviceptr memory = 0;
  EXPECT_CU(cuMemAlloc(&memory, 64));
  EXPECT_CU(cuMemcpyHtoD(memory, Numbers(5).data(), 64));
  CUDA_MEMCPY3D_BATCH_OP op = {};
  op.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr.ptr = memory;
  op.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  op.dst.op.array.array = array;
  op.dst.op.array.offset = {4, 0, 0};
  op.extent = {8, 1, 1};
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_CU(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  std::vector<unsigned> got(8);
  EXPECT_CU(cuMemcpyAtoH(got.data(), array, 16, 32));
  EXPECT(std::memcmp(got.data(), Numbers(5).data(), 32) == 0);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, &op, 0, CU_STREAM_LEGACY));
  op.extent.width = 13;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, &op, 0, stream));
  EXPECT_CU(cuMemFree(memory));
  EXPECT_CU(cuArrayDestroy(array));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  conformance::RunCases();
  return conformance::Finish("driver_array");
}
