// Sharing of memory pools. A pool is exported as a file that names it; what imports that file in
// the same process sees the same memory at the same addresses. Other processes have devices of
// their own and can't import it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/shared_file.h"

namespace graphkit::soft::driver {
namespace {

constexpr char kMark[] = "graphkit soft pool";

// The layout of CUmemPoolPtrExportData.
struct Exported {
  char mark[sizeof kMark];
  CUdeviceptr address;
  uint64_t id;
};
static_assert(sizeof(Exported) <= sizeof(CUmemPoolPtrExportData));

bool IsFile(CUmemAllocationHandleType type) {
  return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

// -1: none can be made.
int MakeFile(uint64_t* inode) {
  const int file = memfd_create(kMark, MFD_CLOEXEC);
  if (file < 0) return -1;
  *inode = InodeOf(file);
  if (*inode != 0 && write(file, kMark, sizeof kMark) == ssize_t{sizeof kMark}) return file;
  close(file);
  return -1;
}

bool IsOfAnotherProcess(int file) {
  char mark[sizeof kMark] = {};
  return pread(file, mark, sizeof mark, 0) == ssize_t{sizeof mark} &&
         std::memcmp(mark, kMark, sizeof mark) == 0;
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
  const int file = MakeFile(&inode);
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
  const Pool* source = PoolOf(inode);
  if (source == nullptr && IsOfAnotherProcess(file)) {
    Explain("a memory pool of another process can't be imported: each process has its own device");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (source == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Pool* pool = Device::Get().pools.Make();
  pool->properties = source->properties;
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
  std::memcpy(exported.mark, kMark, sizeof kMark);
  exported.address = address;
  exported.id = block->second.id;
  *out = {};
  std::memcpy(out, &exported, sizeof exported);
  return CUDA_SUCCESS;
}

CUresult MemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
  const Lock lock = LockDevice();
  const auto* pool = Resolve<Pool>(handle);
  if (out == nullptr || data == nullptr || pool == nullptr || pool->imported == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Exported exported{};
  std::memcpy(&exported, data, sizeof exported);
  auto& allocations = Device::Get().allocations;
  const auto block = allocations.find(exported.address);
  const bool there = std::memcmp(exported.mark, kMark, sizeof kMark) == 0 &&
                     block != allocations.end() && block->second.id == exported.id;
  if (!there || block->second.pool != PoolOf(pool->imported)) return CUDA_ERROR_INVALID_VALUE;
  ++block->second.imports;
  *out = exported.address;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
