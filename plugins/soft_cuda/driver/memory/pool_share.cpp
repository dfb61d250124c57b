// Sharing of memory pools. A pool is exported as a file that names it and has its properties. In
// the same process the imported pool has the same memory at the same addresses; in another one each
// pointer that is imported is mapped (ipc.h).
#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstring>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/ipc.h"
#include "plugins/soft_cuda/ground/shared_file.h"

namespace graphkit::soft::driver {
namespace {

constexpr char kMark[] = "graphkit soft pool";

// The layout of the file.
struct PoolFile {
  char mark[sizeof kMark];
  CUmemPoolProps properties;
};

// The layout of CUmemPoolPtrExportData.
struct Exported {
  CUdeviceptr address;
  uint64_t id;
  uint64_t pool;  // its file
  IpcPlace place;
};
// The place's unused words lie beyond the end.
static_assert(offsetof(Exported, place) + offsetof(IpcPlace, unused) <=
              sizeof(CUmemPoolPtrExportData));

bool IsFile(CUmemAllocationHandleType type) {
  return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

// -1: none can be made.
int MakeFile(const CUmemPoolProps& properties, uint64_t* inode) {
  const int file = memfd_create(kMark, MFD_CLOEXEC);
  if (file < 0) return -1;
  *inode = InodeOf(file);
  PoolFile contents{};
  std::memcpy(contents.mark, kMark, sizeof kMark);
  contents.properties = properties;
  if (*inode != 0 && write(file, &contents, sizeof contents) == ssize_t{sizeof contents})
    return file;
  close(file);
  return -1;
}

bool ReadFile(int file, PoolFile* contents) {
  return pread(file, contents, sizeof *contents, 0) == ssize_t{sizeof *contents} &&
         std::memcmp(contents->mark, kMark, sizeof kMark) == 0;
}

// Null: the file is none that a pool was exported as, or the pool is gone.
Pool* PoolOf(uint64_t inode) {
  const auto& pools = Device::Get().exported_pools;
  const auto found = pools.find(inode);
  return found != pools.end() ? found->second : nullptr;
}

}  // namespace

CUresult MemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                        CUmemAllocationHandleType type, unsigned long long flags) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (out == nullptr || pool == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const bool shared = IsFile(type) && pool->properties.handleTypes == type;
  if (!shared || pool->imported != 0) return CUDA_ERROR_INVALID_VALUE;
  uint64_t inode = 0;
  const int file = MakeFile(pool->properties, &inode);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Device::Get().exported_pools[inode] = pool;
  *static_cast<int*>(out) = file;
  return CUDA_SUCCESS;
}

CUresult MemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  if (out == nullptr || flags != 0 || !IsFile(type)) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const int file = static_cast<int>(reinterpret_cast<intptr_t>(handle));
  const uint64_t inode = InodeOf(file);
  PoolFile contents{};
  if (inode == 0 || !ReadFile(file, &contents)) return CUDA_ERROR_INVALID_VALUE;
  Pool* pool = Device::Get().pools.Make();
  pool->properties = contents.properties;
  pool->imported = inode;
  *out = pool->handle();
  return CUDA_SUCCESS;
}

CUresult MemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const auto& allocations = Device::Get().allocations;
  const auto block = allocations.find(address);
  if (block == allocations.end() || block->second.pool == nullptr ||
      !IsFile(block->second.pool->properties.handleTypes))
    return CUDA_ERROR_INVALID_VALUE;
  Exported exported{};
  exported.address = address;
  exported.id = block->second.id;
  for (const auto& [inode, pool] : Device::Get().exported_pools)
    if (pool == block->second.pool) exported.pool = inode;
  if (CUresult error = ShareAllocation(address, &exported.place); error != CUDA_SUCCESS)
    return error;
  *out = {};
  std::memcpy(out, &exported, sizeof *out);
  return CUDA_SUCCESS;
}

CUresult MemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
  const Lock lock = LockDevice();
  const auto* pool = Resolve<Pool>(handle);
  if (out == nullptr || data == nullptr || pool == nullptr || pool->imported == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Exported exported{};
  std::memcpy(&exported, data, sizeof *data);
  const Pool* source = PoolOf(pool->imported);
  if (source == nullptr) {
    if (exported.pool != pool->imported || exported.place.process == getpid())
      return CUDA_ERROR_INVALID_VALUE;
    return OpenShared(exported.place, false, out);
  }
  auto& allocations = Device::Get().allocations;
  const auto block = allocations.find(exported.address);
  const bool there = block != allocations.end() && block->second.id == exported.id;
  if (!there || block->second.pool != source) return CUDA_ERROR_INVALID_VALUE;
  ++block->second.imports;
  *out = exported.address;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
