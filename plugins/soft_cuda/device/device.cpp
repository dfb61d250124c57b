#include "plugins/soft_cuda/device/device.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft {
namespace {

// Where no loader or allocator of the host puts anything, and where ThreadSanitizer allows memory.
constexpr uint64_t kDeviceMemory = 0x7e8000000000;
constexpr uint64_t kHostMemory = 0x7ec000000000;
constexpr uint64_t kDeviceRange = uint64_t{256} << 30;
constexpr uint64_t kHostRange = uint64_t{64} << 30;

}  // namespace

Device& Device::Get() {
  static auto* device = new Device;  // never destroyed: programs call CUDA from static destructors
  return *device;
}

Device::Device() : memory(kDeviceMemory, kDeviceRange), host_memory(kHostMemory, kHostRange) {
  default_pool = current_pool = pools.Make();
  default_pool->properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  default_pool->properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
}

namespace {

thread_local ThreadState* thread_state = nullptr;

// Ends a thread's state with the thread. The main thread's stays: programs call CUDA from exit handlers, after its
// thread-local objects are gone.
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
  return thread.contexts.empty() ? nullptr : thread.contexts.back();
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
  const bool host = kind == AllocationKind::kHost;
  const bool graph = kind == AllocationKind::kGraph;
  if (!host && !graph && bytes > free_bytes()) return 0;
  const uint64_t before = memory.used();
  const uint64_t address = host ? host_memory.Allocate(bytes) : memory.Allocate(bytes);
  if (graph) addresses_only_ += memory.used() - before;
  if (address != 0) allocations[address] = {kind, bytes, context, ++allocation_count_, pool};
  return address;
}

void Device::AddRegistered(uint64_t address, size_t bytes, Context* context, unsigned flags) {
  allocations[address] = {AllocationKind::kRegistered, bytes, context, ++allocation_count_};
  allocations[address].flags = flags;
}

bool Device::Release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end()) return false;
  const AllocationKind kind = found->second.kind;
  const uint64_t before = memory.used();
  (kind == AllocationKind::kHost ? host_memory : memory).Free(address);
  if (kind == AllocationKind::kGraph) addresses_only_ -= before - memory.used();
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

uint64_t Device::free_bytes() const {
  const uint64_t used = memory.used() - addresses_only_ + graph_pages.used();
  return used < kTotalBytes ? kTotalBytes - used : 0;
}

Context* Device::MakeContext(unsigned flags) {
  Context* context = contexts.Make();
  context->uid = ++context_count_;
  context->flags = flags;
  context->legacy = MakeStream(context, StreamKind::kLegacy, 0, 0);
  NotifyResource(hub, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context->handle(), nullptr);
  return context;
}

void Device::DestroyContext(Context* context) {
  NotifyResource(hub, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context->handle(), nullptr);
  while (!context->streams.empty()) DestroyStream(context->streams.back());
  contexts.Unmake(context);
}

Stream* Device::MakeStream(Context* context, StreamKind kind, unsigned flags, int priority) {
  Stream* stream = streams.Make();
  stream->kind = kind;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  stream->id = NextStreamId();
  stream->context = context;
  stream->time_ns = host_time_ns;
  context->streams.push_back(stream);
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
  std::erase(stream->context->streams, stream);
  streams.Unmake(stream);
}

}  // namespace graphkit::soft
