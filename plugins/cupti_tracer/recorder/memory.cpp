#include "plugins/cupti_tracer/recorder/memory.h"

namespace graphkit {
namespace {

// Pools without a handle are one per kind and device.
uint64_t PoolKey(PoolKind kind, uint64_t handle, int32_t device) {
  if (handle != 0) return handle;
  return (uint64_t{1} << 62) + (static_cast<uint64_t>(kind) << 32) + static_cast<uint32_t>(device);
}

// Not the memory of one device.
bool IsElsewhere(PoolKind kind) { return kind == PoolKind::kHost || kind == PoolKind::kManaged; }

}  // namespace

PoolId Memory::PoolOf(const Call& call, PoolKind kind, uint64_t handle) {
  uint64_t key = PoolKey(kind, handle, IsElsewhere(kind) ? 0 : call.device);
  if (const PoolId* known = FindPool(key)) return *known;
  return pools_.Insert(key, {WritePool(kind, {}, handle), kind}).id;
}

// Of memory that was there already.
PoolId Memory::OthersPool(bool mapping) {
  PoolId& pool = mapping ? imported_ : registered_;
  if (!pool && mapping) pool = WritePool(PoolKind::kDevice, "imported", 0);
  if (!pool) pool = WritePool(PoolKind::kHost, "registered", 0);
  return pool;
}

PoolId Memory::WritePool(PoolKind kind, std::string_view name, uint64_t handle) {
  PoolRecord r;
  r.id = PoolId(next_pool_++);
  r.row.kind = kind;
  r.row.name = records_.Add(name);
  r.row.handle = handle;
  records_.Write(r);
  return r.id;
}

void Memory::OnPoolCreate(const Call& call) {
  EndPool(call.pool, Source::kDerived);
  PoolOf(call, IsElsewhere(call.pool_kind) ? call.pool_kind : PoolKind::kStream, call.pool);
}

void Memory::OnPoolMet(const Call& call) {
  if (IsElsewhere(call.pool_kind)) PoolOf(call, call.pool_kind, call.pool);
}

void Memory::EndPool(uint64_t handle, Source source) {
  const PoolId* pool = FindPool(handle);
  if (pool == nullptr) return;
  records_.WriteEnd<PoolDestroyedRecord>(*pool, source);
  pools_.Erase(handle);
}

uint32_t Memory::IdAt(uint64_t address) {
  const LiveMemory::Block* block = driver().Find(address);
  return block != nullptr ? block->id.value : Going::kNobody;
}

BlockId Memory::WriteAlloc(LiveMemory::Level level, const Call& call, const Place& place) {
  AllocRecord r;
  r.id = BlockId(next_block_++);
  live_.Insert(level, call.address, call.size, r.id);
  MarkOfGraphs(level, call.address, place.graph);
  r.row.address = call.address;
  r.row.size = call.size;
  r.row.pool = place.pool;
  r.row.stream = place.stream;
  r.row.segment = place.segment;
  r.row.graph = place.graph;
  r.row.stack = call.stack;
  r.row.mapped = call.mapping;
  r.row.same_as = place.same_as;
  records_.Counted(records_.Write(call, r), &RecordCounts::blocks);
  return r.id;
}

template <typename Record>
void Memory::WriteFree(const Call& call, BlockId block, StreamId stream, bool derived) {
  Record r;
  r.memory = block;
  r.stream = stream;
  if (derived) r.source = Source::kDerived;
  if (!derived) r.stack = call.stack;
  records_.Write(call, r);
}

// An allocation in a capture marks the driver's block under it as the graph's; memory that is
// handed out of that block later may lie where the graph works.
void Memory::MarkOfGraphs(LiveMemory::Level level, Address address, GraphId graph) {
  auto* under = driver().Holding(address);
  if (under == nullptr) return;
  auto& [begin, block] = *under;
  if (graph && !std::exchange(block.of_graphs, true)) watch_.Add(begin, block.size);
  if (level == LiveMemory::kPiece) pieces().Find(address)->of_graphs = block.of_graphs;
}

void Memory::OnNodeTouches(std::span<const Address> addresses) {
  for (const Address address : addresses) {
    auto* under = driver().Holding(address);
    if (under == nullptr) continue;
    if (auto* piece = pieces().Holding(address)) piece->second.of_graphs = true;
    auto& [begin, block] = *under;
    if (!std::exchange(block.of_graphs, true)) watch_.Add(begin, block.size);
    if (Physical* physical = physical_.Find(block.physical)) physical->of_graphs = true;
  }
}

void Memory::EraseDriver(Address address) {
  const LiveMemory::Block* block = driver().Find(address);
  if (block == nullptr) return;
  if (block->of_graphs) watch_.Remove();
  if (block->of_graphs && block->mapping) unmapped_.Insert(address, {block->size});
  if (Physical* physical = physical_.Find(block->physical)) {
    --physical->mappings;
    if (physical->released && physical->mappings == 0) physical_.Erase(block->physical);
  }
  driver().Erase(address);
}

void Memory::ForgetOverlaps(const Call& call) {
  while (const auto* found = driver().Overlapping(call.address, call.size)) {
    const auto [address, block] = *found;
    EraseDriver(address);
    if (!block.mapping) DropSegment(call, address);
    WriteFree(call, block.id, block.freed_on, true);
  }
}

void Memory::OnAlloc(const ThreadState& thread, const Call& call) {
  if (call.address == 0 || call.size == 0) return;
  Place place{.stream = streams_.IdOf(thread, call)};
  place.pool = call.registered ? OthersPool(call.mapping) : PoolOf(call, call.pool_kind, call.pool);
  place.graph = streams_.CapturedGraph(thread, call);
  LiveMemory::Block* known = driver().Find(call.address);
  if (call.registered && call.mapping && known != nullptr && known->mapping) {
    ++known->opened;  // again: it is there until it is closed as often
    return;
  }
  ForgetOverlaps(call);
  if (call.mapping) return Map(call, place);
  DropSegments(call, call.address, call.size);
  WriteAlloc(LiveMemory::kDriver, call, place);
  LiveMemory::Block& block = *driver().Find(call.address);
  block.on_host = IsElsewhere(call.pool_kind);
  constexpr uint64_t kWriteCombined = 4;  // CU_MEMHOSTALLOC_WRITECOMBINED; reads of it are slow
  block.readable = call.pool_kind == PoolKind::kHost && (call.flags & kWriteCombined) == 0;
}

// An allocator's segments and blocks stay where physical memory comes and goes; so do the graphs
// that touch them.
void Memory::Map(const Call& call, Place place) {
  Physical* physical = physical_.Find(call.physical);
  if (physical == nullptr && call.physical != 0)  // not made here, or before the recording
    physical = &physical_.Insert(call.physical, {.shared = true});
  if (physical != nullptr) place.same_as = physical->first;
  if (physical != nullptr && physical->imported) place.pool = OthersPool(true);
  const BlockId id = WriteAlloc(LiveMemory::kDriver, call, place);
  LiveMemory::Block& block = *driver().Find(call.address);
  block.mapping = true;
  block.physical = call.physical;
  const bool there = TakeUnmapped(call.address, call.size);
  const bool same = physical != nullptr && physical->of_graphs;
  if ((there || same) && !std::exchange(block.of_graphs, true)) watch_.Add(call.address, call.size);
  if (physical == nullptr) return WriteShared(id);
  ++physical->mappings;
  if (physical->first) return;
  physical->first = id;
  if (physical->shared) WriteShared(id);
}

void Memory::OnShare(const Call& call) {
  uint64_t handle = call.physical;
  auto* under = driver().Holding(call.address);
  if (handle == 0 && under != nullptr) handle = under->second.physical;
  if (handle == 0) {
    const bool fresh = under != nullptr && !under->second.mapping;
    if (fresh && !std::exchange(under->second.shared, true)) WriteShared(under->second.id);
    return;
  }
  Physical* physical = physical_.Find(handle);
  if (physical == nullptr) physical = &physical_.Insert(handle, {});
  if (std::exchange(physical->shared, true)) return;
  physical->imported = call.registered;
  if (physical->first) WriteShared(physical->first);
}

void Memory::OnPhysicalRelease(uint64_t handle) {
  Physical* physical = physical_.Find(handle);
  if (physical == nullptr) return;
  physical->released = true;
  if (physical->mappings == 0) physical_.Erase(handle);
}

// True if nodes touched memory that was mapped there.
bool Memory::TakeUnmapped(Address address, uint64_t size) {
  bool found = false;
  while (const auto* gap = unmapped_.Overlapping(address, size)) {
    const Address begin = gap->first, end = begin + gap->second.size;
    unmapped_.Erase(begin);
    if (begin < address) unmapped_.Insert(begin, {address - begin});
    if (end > address + size) unmapped_.Insert(address + size, {end - address - size});
    found = true;
  }
  return found;
}

BlockId Memory::OnAllocNode(const ThreadState& thread, const Call& call, GraphId graph) {
  Place place{.stream = streams_.IdOf(thread, call), .graph = graph};
  const KnownPool* from = call.pool != 0 ? pools_.Find(call.pool) : nullptr;
  const PoolKind kind = from != nullptr ? from->kind : call.pool_kind;
  place.pool = IsElsewhere(kind) ? PoolOf(call, kind, from != nullptr ? call.pool : 0)
                                 : PoolOf(call, PoolKind::kGraph, 0);
  ForgetOverlaps(call);
  return WriteAlloc(LiveMemory::kDriver, call, place);
}

void Memory::OnFreeing(const ThreadState& thread, const Call& call) {
  LiveMemory::Block* block = driver().Find(call.address);
  if (block != nullptr) block->freed_on = streams_.KnownIdOf(thread, call.stream, call.context);
}

// One call may unmap several mappings.
void Memory::OnFree(const ThreadState& thread, const Call& call) {
  Address address = call.address;
  if (LiveMemory::Block* block = driver().Find(address); block != nullptr && block->opened > 0) {
    --block->opened;
    return;
  }
  do {
    const LiveMemory::Block block = *driver().Find(address);
    EraseDriver(address);
    if (!block.mapping) DropSegment(call, address);
    WriteFree(call, block.id, streams_.IdOf(thread, call), false);
    address += block.size;
  } while (address - call.address < call.size && driver().Find(address) != nullptr);
}

BlockId Memory::OnFreeNode(const Call& call) {
  const BlockId block(IdAt(call.address));
  EraseDriver(call.address);
  return block;
}

// Annotations by allocators inside the program.

PoolId Memory::NamedPool(const ThreadState& thread, const Call& call, std::string_view name) {
  if (auto known = named_pools_.find(name); known != named_pools_.end()) return known->second;
  const bool captured = streams_.CaptureOf(thread, call.stream) != nullptr;
  const PoolId id = WritePool(captured ? PoolKind::kPrivate : PoolKind::kAllocator, name, 0);
  named_pools_.emplace(name, id);
  return id;
}

SegmentId Memory::AddSegment(const Call& call, PoolId pool) {
  const SegmentId id(next_segment_++);
  segments_.Insert(call.address, {id, call.size, pool});
  SegmentRecord r;
  r.id = id;
  r.row.address = call.address;
  r.row.size = call.size;
  r.row.pool = pool;
  r.row.block = BlockId(IdAt(call.address));
  records_.Write(call, r);
  return id;
}

void Memory::DropPieces(const Call& call, uint64_t address, uint64_t size) {
  while (const auto* piece = pieces().Overlapping(address, size)) {
    const BlockId block = piece->second.id;
    pieces().Erase(piece->first);
    WriteFree(call, block, {}, true);
  }
}

// The blocks in a segment end with it.
void Memory::DropSegment(const Call& call, uint64_t address) {
  const Segment* segment = segments_.Find(address);
  if (segment == nullptr) return;
  DropPieces(call, address, segment->size);
  records_.WriteEnd<SegmentFreedRecord>(segment->id, Source::kCallback, call.time);
  segments_.Erase(address);
}

void Memory::DropSegments(const Call& call, uint64_t address, uint64_t size) {
  while (const auto* segment = segments_.Overlapping(address, size))
    DropSegment(call, segment->first);
}

void Memory::OnHeapRegistered(const ThreadState& thread, const Call& call, std::string_view name) {
  Settle(thread);
  DropSegment(call, call.address);
  const auto* range = pool_ranges_.Holding(call.address);
  AddSegment(call, range != nullptr ? range->second.pool : NamedPool(thread, call, name));
}

void Memory::OnHeapUnregistered(const ThreadState& thread, const Call& call) {
  Settle(thread);
  DropSegment(call, call.address);
}

void Memory::OnHeapReset(const ThreadState& thread, const Call& call) {
  Settle(thread);
  const Segment* segment = segments_.Find(call.address);
  if (segment != nullptr) DropPieces(call, call.address, segment->size);
}

void Memory::OnPoolNamed(const ThreadState& thread, const Call& call, std::string_view name) {
  Settle(thread);
  pool_ranges_.Insert(call.address, {call.size, NamedPool(thread, call, name)});
}

void Memory::OnRegion(const ThreadState& thread, const Call& call) {
  Settle(thread);
  if (call.address == 0 || call.size == 0) return;
  waiting_.push_back({thread.tid, call});
}

void Memory::OnBlockStream(const ThreadState& thread, const Call& call) {
  for (WaitingPiece& piece : waiting_) {
    if (piece.call.address == call.address) piece.call.stream = call.stream;
  }
  Settle(thread);
}

void Memory::WriteWaiting(const ThreadState& thread) {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].tid != thread.tid) continue;
    const Call call = waiting_[i].call;
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i--));
    WritePiece(thread, call);
  }
}

void Memory::WritePiece(const ThreadState& thread, const Call& call) {
  DropPieces(call, call.address, call.size);
  Place place{.stream = streams_.IdOf(thread, call)};
  const auto* segment = segments_.Holding(call.address);
  const auto* range = pool_ranges_.Holding(call.address);
  if (range != nullptr) place.pool = range->second.pool;
  if (segment != nullptr) {
    place.segment = segment->second.id;
    if (!place.pool) place.pool = segment->second.pool;
  } else if (range != nullptr) {  // an allocator without NVTX: the pool's range is its segment
    Call whole = call;
    whole.address = range->first;
    whole.size = range->second.size;
    place.segment = AddSegment(whole, place.pool);
  }
  if (!place.pool) place.pool = NamedPool(thread, call, "");
  place.graph = streams_.CapturedGraph(thread, call);
  WriteAlloc(LiveMemory::kPiece, call, place);
}

void Memory::OnRecordStream(const ThreadState& thread, const Call& call) {
  Settle(thread);
  auto place = live_.Find(call.address);
  if (!place || call.stream == kNoStream) return;
  RecordStreamRecord r;
  r.row.block = place->block;
  r.row.stream = streams_.IdOf(thread, call);
  records_.Write(call, r);
}

void Memory::OnFreeRequested(const ThreadState& thread, const Call& call) {
  Settle(thread);
  LiveMemory::Block* block = pieces().Find(call.address);
  if (block == nullptr || std::exchange(block->free_requested, true)) return;
  WriteFree<FreeRequestedRecord>(call, block->id, streams_.IdOf(thread, call), false);
}

void Memory::OnFreeCompleted(const ThreadState& thread, const Call& call) {
  Settle(thread);
  const LiveMemory::Block* found = pieces().Find(call.address);
  if (found == nullptr) return;
  const LiveMemory::Block block = *found;
  pieces().Erase(call.address);
  const StreamId stream = streams_.IdOf(thread, call);
  if (block.free_requested) {
    Call completed = call;
    completed.stack = {};  // the request has it
    WriteFree<FreeCompletedRecord>(completed, block.id, stream, false);
  } else {
    WriteFree(call, block.id, stream, false);
  }
}

}  // namespace graphkit
