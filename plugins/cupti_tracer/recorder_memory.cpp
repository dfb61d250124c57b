// Memory: what the driver gives out and takes back.
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

// Pools without a handle are one per kind and device.
uint64_t PoolKey(PoolKind kind, uint64_t handle, int32_t device) {
  if (handle != 0) return handle;
  return (uint64_t{1} << 62) + (static_cast<uint64_t>(kind) << 32) + static_cast<uint32_t>(device);
}

}  // namespace

PoolId Recorder::PoolOf(const Call& call, PoolKind kind, uint64_t handle) {
  bool everywhere = kind == PoolKind::kHost || kind == PoolKind::kManaged;
  uint64_t key = PoolKey(kind, handle, everywhere ? 0 : call.device);
  if (PoolId* known = pools_.Find(key)) return *known;
  return pools_.Insert(key, WritePool(kind, {}, handle));
}

PoolId Recorder::WritePool(PoolKind kind, std::string_view name, uint64_t handle) {
  PoolRecord r;
  r.id = PoolId(next_pool_++);
  r.row.kind = kind;
  r.row.name = values_.Add(name);
  r.row.handle = handle;
  Write(r);
  return r.id;
}

// Whatever was live where memory is given out again has been freed: its free has not returned yet
// on another thread, or went unseen.
void Recorder::ForgetOverlaps(const Call& call, uint64_t address, uint64_t size) {
  while (auto old = live_.Overlapping(LiveMemory::kDriver, address, size)) {
    live_.Erase(LiveMemory::kDriver, old->first);
    if (!segments_.empty()) DropSegment(call, old->first);
    WriteFree(call, old->second.block, old->second.freed_on, true);
  }
}

BlockId Recorder::WriteAlloc(const Call& call, StreamId stream, PoolId pool, GraphId graph) {
  ForgetOverlaps(call, call.address, call.size);
  BlockId id(next_block_++);
  live_.Insert(LiveMemory::kDriver, call.address, call.size, id);
  AllocRecord r;
  r.id = id;
  r.row.address = call.address;
  r.row.size = call.size;
  r.row.pool = pool;
  r.row.stream = stream;
  r.row.graph = graph;
  r.row.stack = call.stack;
  Counted(Write(call, r), &RecordCounts::blocks);
  return id;
}

void Recorder::OnAlloc(ThreadState& thread, const Call& call) {
  if (!thread.events.empty()) return;  // a memory-alloc node
  if (call.address == 0 || call.size == 0) return;
  StreamId stream = StreamIdOf(thread, call);
  PoolId pool = PoolOf(call, call.pool_kind, call.pool);
  CaptureInfo* capture = CaptureOf(thread, call);
  WriteAlloc(call, stream, pool, capture ? capture->graph : GraphId());
}

void Recorder::EndBlock(ThreadState& thread, const Call& call) {
  BlockId block = live_.At(LiveMemory::kDriver, call.address)->block;
  live_.Erase(LiveMemory::kDriver, call.address);
  if (!segments_.empty()) DropSegment(call, call.address);
  WriteFree(call, block, StreamIdOf(thread, call), false);
}

}  // namespace graphkit
