// The one device object: everything that the software device knows. libcuda.so.1 holds it; the
// runtime and CUPTI libraries have no state of their own but what their callers registered.
//
// One lock guards the model (device_mutex.h).
#pragma once

#include <cuda.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/soft_cuda/device/gpu.h"
#include "plugins/soft_cuda/ground/address_space.h"
#include "plugins/soft_cuda/ground/backing.h"
#include "plugins/soft_cuda/ground/device_mutex.h"
#include "plugins/soft_cuda/ground/hub.h"
#include "plugins/soft_cuda/ground/thread_state.h"
#include "plugins/soft_cuda/model/array.h"
#include "plugins/soft_cuda/model/capture.h"
#include "plugins/soft_cuda/model/execute.h"
#include "plugins/soft_cuda/model/external_memory.h"
#include "plugins/soft_cuda/model/graph.h"
#include "plugins/soft_cuda/model/graph_pages.h"
#include "plugins/soft_cuda/model/handle.h"
#include "plugins/soft_cuda/model/module.h"
#include "plugins/soft_cuda/model/pool.h"
#include "plugins/soft_cuda/model/stream.h"
#include "plugins/soft_cuda/model/texture.h"
#include "plugins/soft_cuda/model/virtual_memory.h"
#include "plugins/soft_cuda/model/worker.h"

namespace graphkit::soft {

struct Context {
  static constexpr Tag kTag = Tag::kContext;
  Tag tag = kTag;
  uint32_t uid = 0;
  Gpu* gpu = nullptr;
  unsigned flags = 0;
  bool primary = false;
  unsigned retained = 0;  // primary: cuDevicePrimaryCtxRetain
  Stream* legacy = nullptr;
  std::map<int, size_t> limits;
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
  std::vector<Stream*> streams;
  std::vector<Context*> peers;  // whose memory it may use: cuCtxEnablePeerAccess
  WorkMark gate;                // that streams made later wait for: cuCtxWaitEvent
  uint64_t left_ns = 0;         // modelled: when the work of streams that were destroyed is done
  FreeClock left_frees;         // of these

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
};

enum class AllocationKind : uint8_t {
  kDevice,
  kHost,
  kRegistered,
  kManaged,
  kPool,
  kGraph,
  kModule,
  kMapped,   // of virtual memory management
  kExternal  // mapped onto an external memory object
};

// Advice about managed memory; of the allocation as a whole.
struct RangeHints {
  int read_mostly = 0;
  int preferred = CU_DEVICE_INVALID;  // a device, CU_DEVICE_CPU, CU_DEVICE_INVALID: nowhere
  int prefetched = CU_DEVICE_INVALID;
  bool accessed_by_device = false;
  bool accessed_by_host = false;
};

struct Allocation {
  AllocationKind kind;
  size_t size;  // as asked for
  Context* context;
  uint64_t id;
  Pool* pool = nullptr;
  bool live = true;    // of a graph allocation: between its node and its free
  unsigned flags = 0;  // as given to the call that made it
  RangeHints hints{};
  Gpu* gpu = nullptr;  // null: of the host
  bool sync_memops = false;
  // cuMemPoolImportPointer, further buffers of external memory; each is freed once, before the
  // allocation
  unsigned imports = 0;
  bool shared = false;  // other processes may write it: what kernels do isn't followed
  ExternalMemory* external = nullptr;
  MemoryOf of = MemoryOf::kDevice;  // of a pool or a graph
};

inline bool IsOfHost(const Allocation& a) {
  return a.kind == AllocationKind::kHost || a.kind == AllocationKind::kRegistered ||
         a.of == MemoryOf::kHost;
}
inline bool IsManaged(const Allocation& a) {
  return a.kind == AllocationKind::kManaged || a.of == MemoryOf::kManaged;
}

// The default pool and the current one of a place and a type of memory other than a device's own.
struct PlacePools {
  Pool* first = nullptr;
  Pool* current = nullptr;
};

class Device {
 public:
  static Device& Get();

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceMutex mutex;
  Hub hub;
  std::atomic<bool> ready{false};  // cuInit was called
  std::atomic<uint64_t> thread_count{0};
  uint32_t module_count = 0;

  GraphStore graphs{hub};
  Captures captures{graphs};
  Slab<Stream> streams;
  Slab<Event> events;
  Slab<Context> contexts;
  Slab<Function> functions;
  Slab<Module> modules;
  Slab<Pool> pools;
  Slab<Semaphore> semaphores;
  Slab<Linker> linkers;
  Slab<Array> arrays;
  Slab<MipmappedArray> mipmapped_arrays;
  Slab<ExternalMemory> external_memories;
  Worker worker;
  std::vector<WorkMark> launches;  // of execs, that may not be done

  Backing backing;                             // of the memory of all GPUs
  std::vector<Gpu> gpus;                       // by ordinal; never empty
  std::vector<Gpu> hidden_gpus;                // by CUDA_VISIBLE_DEVICES
  AddressSpace host_memory;                    // page-locked
  std::map<uint64_t, Allocation> allocations;  // by address
  ConditionalValues conditional_values;
  VirtualMemory virtual_memory;
  Numbered<Texture> textures;
  Numbered<Surface> surfaces;
  std::set<Pool*> own_pools;  // those that exist, the default ones included
  // By type of memory, type of location and id; made when they are first asked for.
  std::map<std::tuple<int, int, int>, PlacePools> place_pools;
  std::map<uint64_t, Pool*> exported_pools;  // by the inode of their file
  uint64_t host_time_ns = 0;                 // modelled
  FreeClock host_frees;                      // before what the host has waited for
  std::set<std::pair<std::string, std::string>> not_modelled;  // {function, library} that was told
  std::set<uint64_t> log_callbacks;  // that are registered; nothing is ever logged
  std::set<std::string> explained;   // texts that were said

  // Memory. 0 where the device is full. An allocation of a graph takes an address, no memory: that
  // comes from graph_pages.
  uint64_t Allocate(AllocationKind kind, size_t bytes, Context* context, Pool* pool = nullptr);
  // On a GPU that isn't the context's own.
  uint64_t AllocateOn(Gpu* gpu, AllocationKind kind, size_t bytes, Context* context,
                      Pool* pool = nullptr);
  // Memory that a stream frees goes back when that is done with it, and, where the pool isn't
  // opportunistic, the host has waited for it; before, it can be taken again for work that follows.
  void FreeAfter(uint64_t address, Stream* stream, WorkMark mark);
  // Pools give back what they hold beyond their release thresholds: the host has waited for work.
  void ReleaseIdlePools();
  // The first freed block that fits and that `may_take` allows; 0: there is none.
  uint64_t TakeFreed(Gpu* gpu, size_t bytes, Context* context, Pool* pool,
                     const std::function<bool(const FreedBlock&)>& may_take);
  void AddRegistered(uint64_t address, size_t bytes, Context* context, unsigned flags);
  void AddMapped(uint64_t address, size_t bytes, Gpu* gpu);
  void AddExternal(uint64_t address, size_t bytes, ExternalMemory* external);
  bool Release(uint64_t address);
  std::map<uint64_t, Allocation>::iterator FindAllocation(
      uint64_t address);  // that holds it, or end()

  // Leaves those that CUDA_VISIBLE_DEVICES names, as cuInit does; false: it leaves none.
  bool ShowGpus(std::string_view setting);
  Gpu* FindGpu(int ordinal);     // null: there is none
  Gpu* FindPlace(int place);     // of the machine, hidden or not
  Gpu* GpuAt(uint64_t address);  // that has the address; null: none
  // That a pool's memory has its addresses from: its own; the first one where it is no device's.
  Gpu* GpuOf(const CUmemPoolProps& pool);
  bool IsGpu(int ordinal) { return FindGpu(ordinal) != nullptr; }

  // Contexts and streams.
  Context* MakeContext(Gpu* gpu, unsigned flags);
  void DestroyContext(Context* context);
  Stream* MakeStream(Context* context, StreamKind kind, unsigned flags, int priority);
  void DestroyStream(Stream* stream);
  uint64_t NextStreamId() { return ++stream_count_; }

 private:
  Device();
  void GiveBackFreed(Gpu* gpu);
  void Record(uint64_t address, Gpu* gpu, const Allocation& allocation);
  void FreeMemoryOf(const Context* context);

  uint32_t context_count_ = 0;
  uint64_t stream_count_ = 0;
  uint64_t allocation_count_ = 0;
};

ThreadState& CurrentThread();
Context* CurrentContext();  // null: none, or one that was destroyed
// The stream behind a handle, the special ones included; null: not a stream, or no context.
Stream* FindStream(CUstream handle);

using Lock = std::unique_lock<DeviceMutex>;
inline Lock LockDevice() { return Lock(Device::Get().mutex); }

// Loads the library that CUDA_INJECTION64_PATH names and calls its InitializeInjection.
void LoadInjection();

// Says on stderr, once for each text, why a program can't go on here as it would on a GPU.
void Explain(const char* text);

}  // namespace graphkit::soft
