// Virtual memory management: addresses, memory, and what maps the one to the other.
#include <unistd.h>

#include <vector>

#include "conformance.h"

using namespace conformance;

namespace {

CUstream stream;
size_t step;  // granularity, in bytes

CUmemAllocationProp Properties(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = handles;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  return properties;
}

CUmemAccessDesc ReadWrite() { return {Properties().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}; }

CUdeviceptr Reserve(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_OK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  return address;
}

CUmemGenericAllocationHandle Create(size_t bytes) {
  const CUmemAllocationProp properties = Properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_OK(cuMemCreate(&handle, bytes, &properties, 0));
  return handle;
}

size_t FreeBytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(cuMemGetInfo(&free, &total));
  return free;
}

unsigned char FirstByte(CUdeviceptr address) {
  unsigned char byte = 0;
  EXPECT_OK(cuMemcpyDtoH(&byte, address, 1));
  return byte;
}

// effect: cuMemGetAllocationGranularity cuMemAddressReserve cuMemAddressFree
CASE(Addresses) {
  const CUmemAllocationProp properties = Properties();
  EXPECT_OK(cuMemGetAllocationGranularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(step > 0 && (step & (step - 1)) == 0);
  EXPECT_FAILS(
      cuMemGetAllocationGranularity(nullptr, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const CUdeviceptr first = Reserve(4 * step);
  const CUdeviceptr second = Reserve(step);
  EXPECT(first % step == 0 && (second >= first + 4 * step || second + step <= first));
  CUdeviceptr aligned = 0;
  EXPECT_OK(cuMemAddressReserve(&aligned, step, 16 * step, 0, 0));
  EXPECT(aligned % (16 * step) == 0);
  EXPECT_OK(cuMemAddressFree(aligned, step));
  EXPECT_OK(cuMemAddressFree(second, step));
  EXPECT_OK(cuMemAddressFree(first, 4 * step));
  EXPECT_FAILS(cuMemAddressFree(first, 4 * step));
  EXPECT_FAILS(cuMemAddressReserve(nullptr, step, 0, 0, 0));
  EXPECT_FAILS(cuMemAddressReserve(&aligned, step, 3, 0, 0));
  EXPECT_FAILS(cuMemAddressReserve(&aligned, 0, 0, 0, 0));
}

// effect: cuMemCreate cuMemRelease cuMemMap cuMemUnmap cuMemSetAccess cuMemGetAccess
// effect: cuMemGetAllocationPropertiesFromHandle
CASE(Mappings) {
  const size_t before = FreeBytes();
  const CUdeviceptr address = Reserve(2 * step);
  EXPECT(FreeBytes() + step > before);  // addresses take no memory
  CUmemGenericAllocationHandle handle = Create(2 * step);
  EXPECT(before - FreeBytes() >= 2 * step);
  CUmemAllocationProp got = {};
  EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&got, handle));
  EXPECT(got.type == CU_MEM_ALLOCATION_TYPE_PINNED && got.location.id == 0);
  EXPECT_FAILS(cuMemsetD8(address, 1, step));  // nothing is mapped
  EXPECT_OK(cuMemMap(address, 2 * step, 0, handle, 0));
  unsigned long long flags = 9;
  const CUmemLocation location = Properties().location;
  EXPECT_OK(cuMemGetAccess(&flags, &location, address));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  const CUmemAccessDesc access = ReadWrite();
  EXPECT_OK(cuMemSetAccess(address, 2 * step, &access, 1));
  EXPECT_OK(cuMemGetAccess(&flags, &location, address + step));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_OK(cuMemsetD8(address, 7, 2 * step));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(FirstByte(address + 2 * step - 1) == 7);

  EXPECT_FAILS(cuMemMap(address, 2 * step, 0, handle, 0));  // taken
  EXPECT_FAILS(cuMemMap(address, step + 1, 0, handle, 0));
  EXPECT_FAILS(cuMemUnmap(address, step));  // a part of a mapping
  EXPECT_FAILS(cuMemAddressFree(address, 2 * step));
  EXPECT_FAILS(cuMemFree(address));
  EXPECT_FAILS(cuMemSetAccess(address, 2 * step, nullptr, 1));
  EXPECT_FAILS(cuMemGetAccess(nullptr, &location, address));
  EXPECT_FAILS(cuMemGetAllocationPropertiesFromHandle(nullptr, handle));
  CUmemGenericAllocationHandle none = 0;
  CUmemAllocationProp wrong = Properties();
  EXPECT_FAILS(cuMemCreate(&none, step + 1, &wrong, 0));
  wrong.location.id = 9999;
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&none, step, &wrong, 0));
  const CUmemAllocationProp good = Properties();
  EXPECT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&none, size_t{1} << 46, &good, 0));

  EXPECT_OK(cuMemRelease(handle));  // the mapping keeps the memory
  EXPECT(FirstByte(address) == 7);
  EXPECT(before - FreeBytes() >= 2 * step);
  EXPECT_OK(cuMemUnmap(address, 2 * step));
  EXPECT(FreeBytes() + step > before);
  EXPECT_FAILS(cuMemUnmap(address, 0));
  EXPECT_FAILS(cuMemRelease(handle));
  EXPECT_OK(cuMemAddressFree(address, 2 * step));
}

// effect: cuMemRetainAllocationHandle
CASE(References) {
  const size_t before = FreeBytes();
  const CUdeviceptr address = Reserve(step);
  const CUmemGenericAllocationHandle handle = Create(step);
  EXPECT_OK(cuMemMap(address, step, 0, handle, 0));
  CUmemGenericAllocationHandle again = 0;
  EXPECT_OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address + 100)));
  EXPECT(again == handle);
  EXPECT_OK(cuMemUnmap(address, step));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT(before - FreeBytes() >= step);  // the other reference
  EXPECT_OK(cuMemRelease(again));
  EXPECT(FreeBytes() + step > before);
  EXPECT_FAILS(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address)));
  EXPECT_OK(cuMemAddressFree(address, step));
}

// The same memory at two addresses.
CASE(Aliases) {
  const CUdeviceptr address = Reserve(2 * step);
  const CUmemGenericAllocationHandle handle = Create(step);
  EXPECT_OK(cuMemMap(address, step, 0, handle, 0));
  EXPECT_OK(cuMemMap(address + step, step, 0, handle, 0));
  const CUmemAccessDesc access = ReadWrite();
  EXPECT_OK(cuMemSetAccess(address, 2 * step, &access, 1));
  EXPECT_OK(cuMemsetD8(address, 5, step));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(FirstByte(address + step) == 5);
  EXPECT_OK(cuMemUnmap(address, 2 * step));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemAddressFree(address, 2 * step));
}

// As allocators do that let segments grow: one large reservation, memory mapped behind its end, a
// block that lies over several handles, and pages taken from its middle.
CASE(GrowingSegment) {
  constexpr int kPages = 6;
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(cuMemGetInfo(&free, &total));
  const size_t range = (total + total / 8) / step * step;
  const CUdeviceptr segment = Reserve(range);
  const CUmemAccessDesc access = ReadWrite();
  std::vector<CUmemGenericAllocationHandle> pages;
  for (int i = 0; i < kPages; ++i) {
    pages.push_back(Create(step));
    const CUdeviceptr end = segment + static_cast<size_t>(i) * step;
    EXPECT_OK(cuMemMap(end, step, 0, pages.back(), 0));
    EXPECT_OK(cuMemSetAccess(end, step, &access, 1));
  }
  EXPECT_OK(cuMemsetD8Async(segment, 3, kPages * step, stream));
  std::vector<unsigned char> host(2 * step);
  EXPECT_OK(cuMemcpyDtoHAsync(host.data(), segment + step / 2, 2 * step, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(host.front() == 3 && host.back() == 3);
  EXPECT_FAILS(cuMemcpyDtoH(host.data(), segment + kPages * step - step / 2, step));
  EXPECT_OK(cuMemUnmap(segment + 2 * step, 2 * step));
  for (int i = 2; i < 4; ++i) EXPECT_OK(cuMemRelease(pages[i]));
  EXPECT_FAILS(cuMemcpyDtoH(host.data(), segment + step, 2 * step));
  EXPECT(FirstByte(segment + 4 * step) == 3);
  EXPECT_OK(cuMemUnmap(segment, 2 * step));
  EXPECT_OK(cuMemUnmap(segment + 4 * step, 2 * step));
  for (int i : {0, 1, 4, 5}) EXPECT_OK(cuMemRelease(pages[i]));
  EXPECT_OK(cuMemAddressFree(segment, range));
}

// effect: cuMemExportToShareableHandle cuMemImportFromShareableHandle
CASE(Sharing) {
  const auto by_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const CUmemAllocationProp properties = Properties(by_file);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_OK(cuMemCreate(&handle, step, &properties, 0));
  int file = -1;
  EXPECT_OK(cuMemExportToShareableHandle(&file, handle, by_file, 0));
  EXPECT(file >= 0);
  CUmemGenericAllocationHandle imported = 0;
  EXPECT_OK(cuMemImportFromShareableHandle(
      &imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)), by_file));
  close(file);
  const CUdeviceptr address = Reserve(2 * step);
  EXPECT_OK(cuMemMap(address, step, 0, handle, 0));
  EXPECT_OK(cuMemMap(address + step, step, 0, imported, 0));
  const CUmemAccessDesc access = ReadWrite();
  EXPECT_OK(cuMemSetAccess(address, 2 * step, &access, 1));
  EXPECT_OK(cuMemsetD8(address, 9, step));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(FirstByte(address + step) == 9);
  EXPECT_OK(cuMemUnmap(address, 2 * step));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemRelease(imported));
  EXPECT_OK(cuMemAddressFree(address, 2 * step));
  const CUmemGenericAllocationHandle own = Create(step);  // made without the wish to share it
  EXPECT_FAILS(cuMemExportToShareableHandle(&file, own, by_file, 0));
  EXPECT_FAILS(cuMemImportFromShareableHandle(
      &imported, reinterpret_cast<void*>(static_cast<intptr_t>(-1)), by_file));
  EXPECT_OK(cuMemRelease(own));
}

// The context is of no use afterwards: the last case.
CASE(AGraphThatWritesWhereNothingIsMapped) {
  const CUdeviceptr address = Reserve(2 * step);
  const CUmemGenericAllocationHandle handle = Create(step);
  const CUmemAccessDesc access = ReadWrite();
  EXPECT_OK(cuMemMap(address, step, 0, handle, 0));
  EXPECT_OK(cuMemSetAccess(address, step, &access, 1));
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuMemsetD8Async(address, 1, step, stream));
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemUnmap(address, step));
  cuGraphLaunch(exec, stream);
  EXPECT(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_OK(cudaDeviceReset());
  if (!OnSoftDevice()) return;  // NVIDIA's driver has no device for this process from then on
  EXPECT_OK(cudaFree(nullptr));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuStreamDestroy(stream));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  RunCases();
  return Finish("virtual_memory");
}
