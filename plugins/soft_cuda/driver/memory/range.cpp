// Ranges of managed memory: where they are wanted. Managed memory is plain memory here, so advice
// and prefetches change what is known of an allocation, not where its bytes are.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

// The managed allocation that holds all of a range, or null.
Allocation* Managed(CUdeviceptr address, size_t bytes) {
  Device& device = Device::Get();
  auto block = device.FindAllocation(address);
  if (bytes == 0 || block == device.allocations.end()) return nullptr;
  Allocation& a = block->second;
  const bool inside = bytes <= a.size && address - block->first <= a.size - bytes;
  return IsManaged(a) && inside ? &a : nullptr;
}

CUresult CheckLocation(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return Device::Get().IsGpu(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

int Ordinal(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

// No node of a graph moves or drops pages: these calls end a capture.
CUresult StreamOutsideCapture(CUstream handle) {
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  if (stream->capture == nullptr) return CUDA_SUCCESS;
  stream->capture->valid = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult CheckBatch(const CUdeviceptr* addresses, const size_t* sizes, size_t count,
                    unsigned long long flags, CUstream stream) {
  if (addresses == nullptr || sizes == nullptr || count == 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    if (Managed(addresses[i], sizes[i]) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  }
  return StreamOutsideCapture(stream);
}

// Location k is for the ranges from index[k] to index[k + 1].
CUresult CheckLocations(const CUmemLocation* locations, const size_t* index, size_t locations_count,
                        size_t count) {
  if (locations == nullptr || index == nullptr || locations_count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (locations_count > count || index[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < locations_count; ++k) {
    if (index[k] >= count || (k > 0 && index[k] <= index[k - 1])) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = CheckLocation(locations[k]); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

// Gives back the pages that lie in the range: what is read from them is 0.
void Discard(CUdeviceptr begin, size_t bytes) { Device::Get().backing.Clear(begin, bytes); }

CUresult PrefetchBatch(const CUdeviceptr* addresses, const size_t* sizes, size_t count,
                       const CUmemLocation* locations, const size_t* index, size_t locations_count,
                       unsigned long long flags, CUstream stream) {
  const Lock lock = LockDevice();
  if (CUresult error = CheckLocations(locations, index, locations_count, count);
      error != CUDA_SUCCESS)
    return error;
  if (CUresult error = CheckBatch(addresses, sizes, count, flags, stream); error != CUDA_SUCCESS)
    return error;
  size_t k = 0;
  for (size_t i = 0; i < count; ++i) {
    if (k + 1 < locations_count && index[k + 1] == i) ++k;
    Managed(addresses[i], sizes[i])->hints.prefetched = Ordinal(locations[k]);
  }
  return CUDA_SUCCESS;
}

// As many ordinals as fit: the device where it has access, then CU_DEVICE_INVALID.
CUresult ReadAccessedBy(const RangeHints& hints, int* out, size_t bytes) {
  size_t next = 0;
  const size_t places = bytes / sizeof(int);
  if (hints.accessed_by_device && next < places) out[next++] = 0;
  if (hints.accessed_by_host && next < places) out[next++] = CU_DEVICE_CPU;
  while (next < places) out[next++] = CU_DEVICE_INVALID;
  return CUDA_SUCCESS;
}

CUresult Read(const RangeHints& hints, CUmem_range_attribute attribute, void* data, size_t bytes) {
  if (data == nullptr || bytes == 0 || bytes % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
  auto* out = static_cast<int*>(data);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) return ReadAccessedBy(hints, out, bytes);
  if (bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *out = hints.read_mostly;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *out = hints.preferred;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *out = hints.prefetched;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult MemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                             unsigned int flags, CUstream stream) {
  const Lock lock = LockDevice();
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckLocation(location); error != CUDA_SUCCESS) return error;
  if (CUresult error = StreamOutsideCapture(stream); error != CUDA_SUCCESS) return error;
  Allocation* range = Managed(address, bytes);
  if (range == nullptr) return CUDA_ERROR_INVALID_VALUE;
  range->hints.prefetched = Ordinal(location);
  return CUDA_SUCCESS;
}

CUresult MemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                      CUmemLocation location) {
  const Lock lock = LockDevice();
  Allocation* range = Managed(address, bytes);
  if (range == nullptr) return CUDA_ERROR_INVALID_VALUE;
  RangeHints& hints = range->hints;
  const bool about_place =
      advice != CU_MEM_ADVISE_SET_READ_MOSTLY && advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY;
  if (about_place && advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION) {
    if (CUresult error = CheckLocation(location); error != CUDA_SUCCESS) return error;
  }
  bool& accessed = Ordinal(location) == 0 ? hints.accessed_by_device : hints.accessed_by_host;
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      hints.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      hints.preferred = Ordinal(location);
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      hints.preferred = CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      accessed = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemRangeGetAttribute(void* data, size_t data_bytes, CUmem_range_attribute attribute,
                              CUdeviceptr address, size_t bytes) {
  const Lock lock = LockDevice();
  const Allocation* range = Managed(address, bytes);
  return range != nullptr ? Read(range->hints, attribute, data, data_bytes)
                          : CUDA_ERROR_INVALID_VALUE;
}

CUresult MemRangeGetAttributes(void** data, size_t* data_bytes, CUmem_range_attribute* attributes,
                               size_t count, CUdeviceptr address, size_t bytes) {
  if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUresult error =
        MemRangeGetAttribute(data[i], data_bytes[i], attributes[i], address, bytes);
    if (error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult MemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                               CUmemLocation* locations, size_t* index, size_t locations_count,
                               unsigned long long flags, CUstream stream) {
  return PrefetchBatch(addresses, sizes, count, locations, index, locations_count, flags, stream);
}

CUresult MemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                              unsigned long long flags, CUstream handle) {
  const Lock lock = LockDevice();
  if (CUresult error = CheckBatch(addresses, sizes, count, flags, handle); error != CUDA_SUCCESS)
    return error;
  Stream* stream = FindStream(handle);
  for (size_t i = 0; i < count; ++i) {
    Push(stream, {.what = "a discard",
                  .run = [begin = addresses[i], bytes = sizes[i]] { Discard(begin, bytes); }});
  }
  return CUDA_SUCCESS;
}

CUresult MemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                         CUmemLocation* locations, size_t* index,
                                         size_t locations_count, unsigned long long flags,
                                         CUstream stream) {
  return PrefetchBatch(addresses, sizes, count, locations, index, locations_count, flags, stream);
}

CUresult StreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes,
                              unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = StreamOutsideCapture(handle); error != CUDA_SUCCESS) return error;
  Allocation* range = Managed(address, bytes != 0 ? bytes : 1);
  if (range == nullptr || (bytes != 0 && bytes != range->size)) return CUDA_ERROR_INVALID_VALUE;
  if (flags == CU_MEM_ATTACH_SINGLE && (handle == nullptr || handle == CU_STREAM_LEGACY))
    return CUDA_ERROR_INVALID_VALUE;
  range->flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
