#include "plugins/soft_cuda/device/device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft {
namespace {

// Where no loader or allocator of the host puts anything, and where ThreadSanitizer allows memory.
constexpr uint64_t kDeviceMemory = 0x7e8000000000;
constexpr uint64_t kHostMemory = 0x7ec000000000;
constexpr uint64_t kDeviceRange = uint64_t{256} << 30;  // of each; others than the first lie below
constexpr uint64_t kHostRange = uint64_t{64} << 30;

}  // namespace

Device& Device::Get() {
  static auto* device = new Device;  // never destroyed: programs call CUDA from static destructors
  return *device;
}

Device::Device() : host_memory(kHostMemory, kHostRange, nullptr) {
  uint64_t begin = kDeviceMemory;
  for (GpuFigures& figures : ConfiguredGpus()) {
    const int ordinal = static_cast<int>(gpus.size());
    const uint64_t range = std::max(kDeviceRange, figures.bytes);
    if (ordinal > 0) begin -= range;
    Pool* pool = pools.Make();
    own_pools.insert(pool);
    pool->properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    pool->properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
    gpus.push_back({.ordinal = ordinal,
                    .place = ordinal,
                    .figures = std::move(figures),
                    .memory = AddressSpace(begin, range, &backing),
                    .default_pool = pool,
                    .current_pool = pool});
  }
}

bool Device::ShowGpus(std::string_view setting) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) uuids.push_back(UuidText(gpu));
  const std::vector<size_t> places = VisiblePlaces(setting, uuids);
  if (places.empty()) return false;
  std::vector<Gpu> all = std::exchange(gpus, {});
  for (const size_t place : places) {
    gpus.push_back(std::move(all[place]));
    gpus.back().ordinal = static_cast<int>(gpus.size()) - 1;
    gpus.back().default_pool->properties.location.id = gpus.back().ordinal;
  }
  for (Gpu& gpu : all) {
    const auto place = static_cast<size_t>(&gpu - all.data());
    if (std::find(places.begin(), places.end(), place) == places.end())
      hidden_gpus.push_back(std::move(gpu));
  }
  return true;
}

Gpu* Device::FindPlace(int place) {
  for (std::vector<Gpu>* group : {&gpus, &hidden_gpus}) {
    for (Gpu& gpu : *group) {
      if (gpu.place == place) return &gpu;
    }
  }
  return nullptr;
}

Gpu* Device::GpuAt(uint64_t address) {
  for (Gpu& gpu : gpus) {
    if (gpu.memory.Contains(address)) return &gpu;
  }
  return nullptr;
}

Gpu* Device::GpuOf(const CUmemPoolProps& pool) {
  return pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? FindGpu(pool.location.id)
                                                           : gpus.data();
}

Gpu* Device::FindGpu(int ordinal) {
  const bool there = ordinal >= 0 && static_cast<size_t>(ordinal) < gpus.size();
  return there ? &gpus[static_cast<size_t>(ordinal)] : nullptr;
}

namespace {

thread_local ThreadState* thread_state = nullptr;

// Ends a thread's state with the thread. The main thread's stays: programs call CUDA from exit
// handlers, after its thread-local objects are gone.
struct EndOfThread {
  ~EndOfThread() {
    if (gettid() == getpid()) return;
    delete thread_state;
    thread_state = nullptr;
  }
};

}  // namespace

ThreadState& CurrentThread() {
  if (thread_state == nullptr) {
    thread_local EndOfThread end;
    static_cast<void>(end);
    thread_state = new ThreadState;
    thread_state->number = ++Device::Get().thread_count;
  }
  return *thread_state;
}

Context* CurrentContext() {
  const ThreadState& thread = CurrentThread();
  Context* top = thread.contexts.empty() ? nullptr : thread.contexts.back();
  return top != nullptr && top->tag == Tag::kContext ? top : nullptr;
}

Stream* FindStream(CUstream handle) {
  Context* context = CurrentContext();
  if (context == nullptr) return nullptr;
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return context->legacy;
  if (handle == CU_STREAM_PER_THREAD) {
    Stream*& own = CurrentThread().per_thread_stream;
    if (own == nullptr || own->tag != Tag::kStream || own->context != context) {
      own = Device::Get().MakeStream(context, StreamKind::kPerThread, 0, 0);
    }
    return own;
  }
  return Resolve<Stream>(handle);
}

uint64_t Device::Allocate(AllocationKind kind, size_t bytes, Context* context, Pool* pool) {
  if (kind != AllocationKind::kHost)
    return AllocateOn(context != nullptr ? context->gpu : gpus.data(), kind, bytes, context, pool);
  const uint64_t address = host_memory.Allocate(bytes);
  if (address != 0) allocations[address] = {kind, bytes, context, ++allocation_count_, pool};
  return address;
}

uint64_t Device::AllocateOn(Gpu* gpu, AllocationKind kind, size_t bytes, Context* context,
                            Pool* pool) {
  GiveBackFreed(gpu);
  const bool graph = kind == AllocationKind::kGraph;
  const Allocation allocation{kind, bytes, context, ++allocation_count_, pool};
  const bool of_host = pool != nullptr && MemoryOfPool(pool->properties) == MemoryOf::kHost;
  if (!graph && ((!of_host && bytes > gpu->free_bytes()) || !backing.HasRoom(bytes))) return 0;
  const uint64_t before = gpu->memory.used();
  const uint64_t address = gpu->memory.Allocate(bytes);
  if (address == 0) return 0;
  if (graph || of_host) gpu->addresses_only += gpu->memory.used() - before;
  Record(address, gpu, allocation);
  return address;
}

void Device::Record(uint64_t address, Gpu* gpu, const Allocation& allocation) {
  Allocation& a = allocations[address] = allocation;
  a.gpu = gpu;
  if (a.pool == nullptr) return;
  const CUmemPoolProps& pool = a.pool->properties;
  a.of = MemoryOfPool(pool);
  const bool preferred =
      a.of == MemoryOf::kManaged && pool.location.type != CU_MEM_LOCATION_TYPE_INVALID;
  const bool device = pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (preferred) a.hints.preferred = device ? pool.location.id : CU_DEVICE_CPU;
}

namespace {

// Gives an address back. `only`: no memory of the GPU was behind it.
bool Free(Gpu* gpu, uint64_t address, bool only) {
  const uint64_t before = gpu->memory.used();
  const bool freed = gpu->memory.Free(address);
  if (only) gpu->addresses_only -= before - gpu->memory.used();
  return freed;
}

}  // namespace

void Device::FreeAfter(uint64_t address, Stream* stream, WorkMark mark) {
  const Allocation& block = allocations.at(address);
  const uint64_t number = ++stream->frees[stream->id];
  if (worker.IsDone(mark) && block.pool->reuse_opportunistic != 0) {
    Release(address);
    return;
  }
  block.gpu->freed.push_back(
      {address, block.size, block.pool, stream->id, number, std::move(mark), IsOfHost(block)});
  allocations.erase(address);
}

uint64_t Device::TakeFreed(Gpu* gpu, size_t bytes, Context* context, Pool* pool,
                           const std::function<bool(const FreedBlock&)>& may_take) {
  const auto found =
      std::find_if(gpu->freed.begin(), gpu->freed.end(), [&](const FreedBlock& freed) {
        return freed.pool == pool && freed.bytes >= bytes && may_take(freed);
      });
  if (found == gpu->freed.end()) return 0;
  const uint64_t address = found->address;
  gpu->freed.erase(found);
  Record(address, gpu, {AllocationKind::kPool, bytes, context, ++allocation_count_, pool});
  return address;
}

void Device::GiveBackFreed(Gpu* gpu) {
  std::erase_if(gpu->freed, [&](const FreedBlock& block) {
    const bool any = block.pool == nullptr || block.pool->reuse_opportunistic != 0 ||
                     ComesAfter(host_frees, block.stream, block.number);
    return any && worker.IsDone(block.mark) && Free(gpu, block.address, block.address_only);
  });
}

void Device::ReleaseIdlePools() {
  std::map<const Pool*, uint64_t> pending;  // bytes that streams have freed and may still use
  for (Gpu& gpu : gpus) {
    GiveBackFreed(&gpu);
    for (const FreedBlock& block : gpu.freed) pending[block.pool] += block.bytes;
  }
  for (Pool* pool : own_pools)
    Trim(*pool, std::max(pool->release_threshold, pool->used + pending[pool]));
}

void Device::AddRegistered(uint64_t address, size_t bytes, Context* context, unsigned flags) {
  allocations[address] = {AllocationKind::kRegistered, bytes, context, ++allocation_count_};
  allocations[address].flags = flags;
}

void Device::AddMapped(uint64_t address, size_t bytes, Gpu* gpu) {
  allocations[address] = {AllocationKind::kMapped, bytes, nullptr, ++allocation_count_};
  allocations[address].gpu = gpu;
}

// Buffers that begin at the same address are one allocation, as long as the longest.
void Device::AddExternal(uint64_t address, size_t bytes, ExternalMemory* external) {
  const auto [block, made] = allocations.try_emplace(address);
  Allocation& a = block->second;
  if (!made) {
    ++a.imports;
    a.size = std::max(a.size, bytes);
    return;
  }
  a = {AllocationKind::kExternal, bytes, nullptr, ++allocation_count_};
  a.gpu = external->gpu;
  a.external = external;
}

bool Device::Release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end()) return false;
  const Allocation& a = found->second;
  if (a.gpu != nullptr) {
    Free(a.gpu, address, a.kind == AllocationKind::kGraph || IsOfHost(a));
  } else {
    host_memory.Free(address);
  }
  allocations.erase(found);
  return true;
}

std::map<uint64_t, Allocation>::iterator Device::FindAllocation(uint64_t address) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return allocations.end();
  auto block = std::prev(next);
  return address < block->first + std::max<size_t>(block->second.size, 1) ? block
                                                                          : allocations.end();
}

Context* Device::MakeContext(Gpu* gpu, unsigned flags) {
  Context* context = contexts.Make();
  context->uid = ++context_count_;
  context->gpu = gpu;
  context->flags = flags;
  context->legacy = MakeStream(context, StreamKind::kLegacy, 0, 0);
  NotifyResource(hub, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context->handle(), nullptr);
  return context;
}

void Device::DestroyContext(Context* context) {
  NotifyResource(hub, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context->handle(), nullptr);
  while (!context->streams.empty()) DestroyStream(context->streams.back());
  FreeMemoryOf(context);
  const auto is_own = [context](const auto& object) { return object.second.context == context; };
  std::erase_if(textures.objects, is_own);
  std::erase_if(surfaces.objects, is_own);
  for (Gpu& gpu : gpus) {
    if (gpu.primary == context) gpu.primary = nullptr;
  }
  contexts.Unmake(context);
}

// Variables of modules and the addresses of graphs stay: what names them may be used again.
void Device::FreeMemoryOf(const Context* context) {
  std::vector<uint64_t> addresses;
  for (const auto& [address, block] : allocations) {
    const bool kept = block.kind == AllocationKind::kModule ||
                      block.kind == AllocationKind::kGraph || block.kind == AllocationKind::kPool;
    if (block.context == context && !kept) addresses.push_back(address);
  }
  for (uint64_t address : addresses) {
    if (allocations.at(address).kind == AllocationKind::kRegistered) {
      allocations.erase(address);
    } else {
      Release(address);
    }
  }
}

Stream* Device::MakeStream(Context* context, StreamKind kind, unsigned flags, int priority) {
  Stream* stream = streams.Make();
  stream->kind = kind;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  stream->id = NextStreamId();
  stream->context = context;
  stream->time_ns = host_time_ns;
  stream->place = context->streams.size();
  context->streams.push_back(stream);
  if (!worker.IsDone(context->gate))
    worker.Add(stream->line, {.what = "an event", .after = {context->gate}});
  if (kind == StreamKind::kUser) {
    NotifyResource(hub, CUPTI_CBID_RESOURCE_STREAM_CREATED, context->handle(), stream->handle());
  }
  return stream;
}

void Device::DestroyStream(Stream* stream) {
  if (stream->kind == StreamKind::kUser) {
    NotifyResource(hub, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->context->handle(),
                   stream->handle());
  }
  captures.Leave(stream);
  stream->context->left_ns = std::max(stream->context->left_ns, stream->time_ns);
  Follow(stream->context->left_frees, stream->frees);
  std::vector<Stream*>& all = stream->context->streams;
  all[stream->place] = all.back();  // the last one takes its place
  all[stream->place]->place = stream->place;
  all.pop_back();
  streams.Unmake(stream);
}

void LoadInjection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "graphkit soft device: CUDA_INJECTION64_PATH: %s\n", dlerror());
    return;
  }
  auto* initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    std::fprintf(
        stderr, "graphkit soft device: %s has no InitializeInjection; nothing is injected\n", path);
    return;
  }
  initialize();
}

void Explain(const char* text) {
  Device& device = Device::Get();
  const Lock lock(device.mutex);
  if (device.explained.insert(text).second)
    std::fprintf(stderr, "graphkit soft device: %s\n", text);
}

}  // namespace graphkit::soft
