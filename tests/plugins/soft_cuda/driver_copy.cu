// Copies and fills of planes and volumes through the driver API, copies between contexts and in
// batches, managed ranges, pools by place.
#include <cstring>
#include <vector>

#include "conformance.h"
#include "older.h"

using namespace conformance;

namespace {

constexpr size_t kWidth = 48;  // bytes
constexpr size_t kHeight = 4;
constexpr size_t kDepth = 2;
constexpr size_t kBytes = kWidth * kHeight * kDepth;

CUstream stream;
CUcontext context;
CUdeviceptr from;
CUdeviceptr to;

std::vector<unsigned char> Read(CUdeviceptr memory, size_t bytes = kBytes) {
  std::vector<unsigned char> host(bytes);
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemcpyDtoH(host.data(), memory, bytes));
  return host;
}

bool All(const std::vector<unsigned char>& bytes, unsigned char value) {
  for (unsigned char b : bytes) {
    if (b != value) return false;
  }
  return true;
}

void Clear(unsigned char source) {
  EXPECT_OK(cuMemsetD8(from, source, kBytes));
  EXPECT_OK(cuMemsetD8(to, 0, kBytes));
  EXPECT_OK(cuCtxSynchronize());
}

CUDA_MEMCPY2D Plane() {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = kWidth;
  copy.WidthInBytes = kWidth;
  copy.Height = kHeight * kDepth;
  return copy;
}

CUDA_MEMCPY3D Volume() {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = kWidth;
  copy.srcHeight = copy.dstHeight = copy.Height = kHeight;
  copy.Depth = kDepth;
  return copy;
}

CUDA_MEMCPY3D_PEER PeerVolume() {
  CUDA_MEMCPY3D_PEER copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcContext = copy.dstContext = context;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = kWidth;
  copy.srcHeight = copy.dstHeight = copy.Height = kHeight;
  copy.Depth = kDepth;
  return copy;
}

// effect: cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync
// effect: cuMemcpy3DPeer cuMemcpy3DPeerAsync
CASE(Shapes) {
  CUDA_MEMCPY2D plane = Plane();
  Clear(1);
  EXPECT_OK(cuMemcpy2D(&plane));
  EXPECT(All(Read(to), 1));
  Clear(2);
  EXPECT_OK(cuMemcpy2DAsync(&plane, stream));
  EXPECT(All(Read(to), 2));
  Clear(3);
  plane.WidthInBytes = kWidth / 2;  // the left half
  EXPECT_OK(cuMemcpy2DUnaligned(&plane));
  std::vector<unsigned char> read = Read(to);
  EXPECT(read[0] == 3 && read[kWidth / 2] == 0 && read[kWidth] == 3);
  const CUDA_MEMCPY3D volume = Volume();
  Clear(4);
  EXPECT_OK(cuMemcpy3D(&volume));
  EXPECT(All(Read(to), 4));
  Clear(5);
  EXPECT_OK(cuMemcpy3DAsync(&volume, stream));
  EXPECT(All(Read(to), 5));
  CUDA_MEMCPY3D_PEER peer = PeerVolume();
  Clear(6);
  EXPECT_OK(cuMemcpy3DPeer(&peer));
  EXPECT(All(Read(to), 6));
  Clear(7);
  EXPECT_OK(cuMemcpy3DPeerAsync(&peer, stream));
  EXPECT(All(Read(to), 7));
  plane = Plane();
  plane.dstPitch = kWidth / 2;  // narrower than a row
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&plane));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DAsync(&plane, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DUnaligned(&plane));
  CUDA_MEMCPY3D wrong = volume;
  wrong.srcPitch = kWidth / 2;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&wrong));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&wrong, stream));
  peer.srcContext = nullptr;
  peer.dstContext = nullptr;
  EXPECT_OK(cuMemcpy3DPeer(&peer));  // the current one
  EXPECT_OK(cuMemcpy3DPeerAsync(&peer, stream));
  peer.srcPitch = kWidth / 2;
  EXPECT_FAILS(cuMemcpy3DPeer(&peer));
  EXPECT_FAILS(cuMemcpy3DPeerAsync(&peer, stream));
}

// effect: cuMemcpy cuMemcpyAsync cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyHtoDAsync
// effect: cuMemcpyDtoHAsync cuMemcpyDtoDAsync
CASE(Lines) {
  std::vector<unsigned char> host(kBytes, 21);
  EXPECT_OK(cuMemcpyHtoD(from, host.data(), kBytes));
  EXPECT_OK(cuMemcpy(to, from, kBytes));
  EXPECT(All(Read(to), 21));
  Clear(22);
  EXPECT_OK(cuMemcpyAsync(to, from, kBytes, stream));
  EXPECT(All(Read(to), 22));
  Clear(23);
  EXPECT_OK(cuMemcpyDtoD(to, from, kBytes));
  EXPECT(All(Read(to), 23));
  Clear(24);
  EXPECT_OK(cuMemcpyDtoDAsync(to, from, kBytes, stream));
  EXPECT_OK(cuMemcpyDtoHAsync(host.data(), to, kBytes, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(All(host, 24));
  host.assign(kBytes, 25);
  EXPECT_OK(cuMemcpyHtoDAsync(to, host.data(), kBytes, stream));
  EXPECT(All(Read(to), 25));
  // Device pointers are checked; 16 is none.
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(16, host.data(), kBytes));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host.data(), 16, kBytes));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(to, 16, kBytes));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoDAsync(16, host.data(), kBytes, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoHAsync(host.data(), 16, kBytes, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoDAsync(to, 16, kBytes, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy(to, 0, kBytes));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyAsync(0, from, kBytes, stream));
}

// effect: cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD2D16 cuMemsetD2D16Async cuMemsetD2D32
// effect: cuMemsetD2D32Async cuMemsetD8 cuMemsetD8Async
CASE(Fills) {
  const size_t rows = kHeight * kDepth;
  EXPECT_OK(cuMemsetD2D8(to, kWidth, 11, kWidth, rows));
  EXPECT(All(Read(to), 11));
  EXPECT_OK(cuMemsetD2D8Async(to, kWidth, 12, kWidth, rows, stream));
  EXPECT(All(Read(to), 12));
  EXPECT_OK(cuMemsetD2D16(to, kWidth, 0x0d0d, kWidth / 2, rows));
  EXPECT(All(Read(to), 13));
  EXPECT_OK(cuMemsetD2D16Async(to, kWidth, 0x0e0e, kWidth / 2, rows, stream));
  EXPECT(All(Read(to), 14));
  EXPECT_OK(cuMemsetD2D32(to, kWidth, 0x0f0f0f0f, kWidth / 4, rows));
  EXPECT(All(Read(to), 15));
  EXPECT_OK(cuMemsetD2D32Async(to, kWidth, 0x10101010, kWidth / 4, rows, stream));
  EXPECT(All(Read(to), 16));
  EXPECT_OK(cuMemsetD8(to, 17, kBytes));
  EXPECT(All(Read(to), 17));
  EXPECT_OK(cuMemsetD8Async(to, 18, kBytes, stream));
  EXPECT(All(Read(to), 18));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(16, 0, kBytes));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(16, 0, kBytes, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(16, kWidth, 0, kWidth, rows));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8Async(16, kWidth, 0, kWidth, rows, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16(to + 1, kWidth, 0, 8, rows));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16Async(to + 1, kWidth, 0, 8, rows, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(to + 2, kWidth, 0, 8, rows));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32Async(to + 2, kWidth, 0, 8, rows, stream));
}

// effect: cuMemcpyBatchAsync cuMemcpyBatchAsync_v1
CASE(Batches) {
  using Batch = CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*,
                             size_t*, size_t, size_t*, CUstream);
  const auto cuMemcpyBatchAsync_v1 = OfVersion<Batch>("cuMemcpyBatchAsync", 12080);
  CUdeviceptr targets[2] = {to, to + kBytes / 2};
  CUdeviceptr sources[2] = {from, from + kBytes / 2};
  size_t sizes[2] = {kBytes / 2, kBytes / 2};
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  size_t index = 0;
  size_t failed = 0;
  Clear(31);
  EXPECT_OK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, stream));
  EXPECT(All(Read(to), 31));
  Clear(32);
  EXPECT_OK(
      cuMemcpyBatchAsync_v1(targets, sources, sizes, 2, &attributes, &index, 1, &failed, stream));
  EXPECT(All(Read(to), 32));
  EXPECT_FAILS(cuMemcpyBatchAsync(targets, sources, sizes, 0, &attributes, &index, 1, stream));
  EXPECT_FAILS(
      cuMemcpyBatchAsync_v1(targets, sources, sizes, 0, &attributes, &index, 1, &failed, stream));
}

CUmemLocation Gpu() {
  CUmemLocation location = {};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return location;
}

// effect: cuMemAdvise cuMemAdvise_v1 cuMemPrefetchAsync cuMemPrefetchAsync_v1
// effect: cuMemRangeGetAttribute cuMemRangeGetAttributes cuMemPrefetchBatchAsync
// effect: cuMemDiscardAndPrefetchBatchAsync
CASE(Ranges) {
  const auto cuMemAdvise_v1 =
      OfVersion<CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUdevice)>("cuMemAdvise", 8000);
  const auto cuMemPrefetchAsync_v1 =
      OfVersion<CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream)>("cuMemPrefetchAsync", 8000);
  constexpr size_t kManaged = 1 << 20;
  CUdeviceptr managed = 0;
  EXPECT_OK(cuMemAllocManaged(&managed, kManaged, CU_MEM_ATTACH_GLOBAL));
  int value = 0;
  EXPECT_OK(cuMemAdvise(managed, kManaged, CU_MEM_ADVISE_SET_READ_MOSTLY, Gpu()));
  EXPECT_OK(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                   managed, kManaged));
  EXPECT(value == 1);
  EXPECT_OK(cuMemAdvise_v1(managed, kManaged, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
  EXPECT_OK(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                   managed, kManaged));
  EXPECT(value == 0);
  EXPECT_OK(cuMemPrefetchAsync(managed, kManaged, Gpu(), 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  int read_mostly = 1;
  int last = -9;
  void* out[2] = {&read_mostly, &last};
  size_t sizes[2] = {sizeof read_mostly, sizeof last};
  CUmem_range_attribute asked[2] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
  EXPECT_OK(cuMemRangeGetAttributes(out, sizes, asked, 2, managed, kManaged));
  EXPECT(read_mostly == 0 && last == 0);
  EXPECT_OK(cuMemPrefetchAsync_v1(managed, kManaged, CU_DEVICE_CPU, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemRangeGetAttributes(out, sizes, asked, 2, managed, kManaged));
  EXPECT(last == CU_DEVICE_CPU);
  CUmemLocation place = Gpu();
  size_t bytes = kManaged;
  size_t index = 0;
  EXPECT_OK(cuMemPrefetchBatchAsync(&managed, &bytes, 1, &place, &index, 1, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemRangeGetAttributes(out, sizes, asked, 2, managed, kManaged));
  EXPECT(last == 0);
  EXPECT_OK(cuMemPrefetchAsync_v1(managed, kManaged, CU_DEVICE_CPU, stream));
  EXPECT_OK(cuMemDiscardAndPrefetchBatchAsync(&managed, &bytes, 1, &place, &index, 1, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemRangeGetAttributes(out, sizes, asked, 2, managed, kManaged));
  EXPECT(last == 0);
  const auto none = static_cast<CUmem_range_attribute>(99);
  EXPECT_FAILS(cuMemAdvise(from, kBytes, static_cast<CUmem_advise>(99), Gpu()));
  EXPECT_FAILS(cuMemAdvise_v1(managed, kManaged, static_cast<CUmem_advise>(99), 0));
  EXPECT_FAILS(cuMemPrefetchAsync(managed, kManaged, Gpu(), 1, stream));
  EXPECT_FAILS(cuMemPrefetchAsync_v1(managed, kManaged, 9999, stream));
  EXPECT_FAILS(cuMemRangeGetAttribute(&value, sizeof value, none, managed, kManaged));
  EXPECT_FAILS(cuMemRangeGetAttributes(out, sizes, asked, 0, managed, kManaged));
  EXPECT_FAILS(cuMemPrefetchBatchAsync(&managed, &bytes, 0, &place, &index, 1, 0, stream));
  EXPECT_FAILS(
      cuMemDiscardAndPrefetchBatchAsync(&managed, &bytes, 0, &place, &index, 1, 0, stream));
  EXPECT_OK(cuMemFree(managed));
}

// effect: cuMemGetDefaultMemPool cuMemGetMemPool cuMemSetMemPool cuMemPoolSetAccess
// effect: cuMemPoolGetAccess cuPointerGetAttributes cuPointerSetAttribute cuMemHostRegister_v1
CASE(PoolsAndPointers) {
  CUmemLocation place = Gpu();
  const CUmemAllocationType pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemoryPool pool = nullptr;
  CUmemoryPool of_device = nullptr;
  EXPECT_OK(cuMemGetDefaultMemPool(&pool, &place, pinned));
  EXPECT_OK(cuDeviceGetDefaultMemPool(&of_device, 0));
  EXPECT(pool == of_device);
  CUmemPoolProps properties = {};
  properties.allocType = pinned;
  properties.location = place;
  properties.maxSize = size_t{64} << 20;
  CUmemoryPool own = nullptr;
  EXPECT_OK(cuMemPoolCreate(&own, &properties));
  CUdeviceptr block = 0;
  EXPECT_ERROR(CUDA_ERROR_OUT_OF_MEMORY,
               cuMemAllocFromPoolAsync(&block, 2 * properties.maxSize, own, stream));
  EXPECT_OK(cuMemAllocFromPoolAsync(&block, properties.maxSize / 2, own, stream));
  EXPECT_OK(cuMemFreeAsync(block, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemSetMemPool(&place, pinned, own));
  CUmemoryPool current = nullptr;
  EXPECT_OK(cuMemGetMemPool(&current, &place, pinned));
  EXPECT(current == own);
  EXPECT_OK(cuMemSetMemPool(&place, pinned, pool));
  CUmemAccessDesc access = {place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_OK(cuMemPoolSetAccess(own, &access, 1));
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_OK(cuMemPoolGetAccess(&flags, own, &place));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_FAILS(cuMemPoolGetAccess(nullptr, own, &place));
  CUmemLocation nowhere = place;
  nowhere.id = 9999;
  access.location = nowhere;
  EXPECT_FAILS(cuMemPoolSetAccess(own, &access, 1));
  EXPECT_FAILS(cuMemGetDefaultMemPool(&pool, &nowhere, pinned));
  EXPECT_FAILS(cuMemGetMemPool(&pool, &nowhere, pinned));
  EXPECT_FAILS(cuMemSetMemPool(&nowhere, pinned, own));
  EXPECT_OK(cuMemPoolDestroy(own));

  CUmemorytype type = CU_MEMORYTYPE_HOST;
  CUdeviceptr start = 0;
  CUpointer_attribute asked[2] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* out[2] = {&type, &start};
  EXPECT_OK(cuPointerGetAttributes(2, asked, out, from + 8));
  EXPECT(type == CU_MEMORYTYPE_DEVICE && start == from);
  EXPECT_FAILS(cuPointerGetAttributes(2, nullptr, out, from));
  unsigned synchronous = 1;
  EXPECT_OK(cuPointerSetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, from));
  synchronous = 0;
  EXPECT_OK(cuPointerGetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, from));
  EXPECT(synchronous == 1);
  EXPECT_FAILS(cuPointerSetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, from));

  const auto cuMemHostRegister_v1 =
      OfVersion<CUresult (*)(void*, size_t, unsigned)>("cuMemHostRegister", 4000);
  alignas(4096) static char pages[4096];
  EXPECT_OK(cuMemHostRegister_v1(pages, sizeof pages, 0));
  EXPECT_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
               cuMemHostRegister_v1(pages, sizeof pages, 0));
  EXPECT_OK(cuMemHostUnregister(pages));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuMemAlloc(&from, kBytes));
  EXPECT_OK(cuMemAlloc(&to, kBytes));
  RunCases();
  EXPECT_OK(cuMemFree(from));
  EXPECT_OK(cuMemFree(to));
  EXPECT_OK(cuStreamDestroy(stream));
  return Finish("driver_copy");
}
