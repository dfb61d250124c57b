// Allocators inside the program: what they say of their segments, blocks and deferred frees.
//
// The stream of a block is told by a call of its own, right after the block. So a block waits for
// the next call of its thread before it is recorded.
#include <algorithm>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {

PoolId Recorder::NamedPool(ThreadState& thread, const Call& call, std::string_view name) {
  for (const auto& [known, pool] : named_pools_) {
    if (known == name) return pool;
  }
  const bool captured = CaptureOf(thread, call) != nullptr;
  const PoolId id = WritePool(captured ? PoolKind::kPrivate : PoolKind::kAllocator, name, 0);
  named_pools_.emplace_back(name, id);
  return id;
}

// The pool that the program named for an address, if it did.
PoolId Recorder::PoolAt(uint64_t address) const {
  auto after = pool_ranges_.upper_bound(address);
  if (after == pool_ranges_.begin()) return {};
  const auto& [begin, range] = *std::prev(after);
  return address - begin < range.size ? range.pool : PoolId();
}

Recorder::SegmentInfo* Recorder::SegmentAt(uint64_t address) {
  auto after = segments_.upper_bound(address);
  if (after == segments_.begin()) return nullptr;
  auto& [begin, segment] = *std::prev(after);
  return address - begin < segment.size ? &segment : nullptr;
}

Recorder::SegmentInfo& Recorder::AddSegment(const Call& call, PoolId pool) {
  SegmentInfo& segment = segments_[call.address];
  segment = {SegmentId(next_segment_++), call.size, pool};
  auto memory = live_.At(LiveMemory::kDriver, call.address);
  SegmentRecord r;
  r.id = segment.id;
  r.row.address = call.address;
  r.row.size = call.size;
  r.row.pool = pool;
  if (memory) r.row.block = memory->block;
  Write(call, r);
  return segment;
}

void Recorder::DropPieces(const Call& call, uint64_t address, uint64_t size) {
  while (auto piece = live_.Overlapping(LiveMemory::kPiece, address, size)) {
    live_.Erase(LiveMemory::kPiece, piece->first);
    WriteFree(call, piece->second.block, {}, true);
  }
}

// What lies in a segment goes with it.
void Recorder::DropSegment(const Call& call, uint64_t address) {
  auto found = segments_.find(address);
  if (found == segments_.end()) return;
  DropPieces(call, address, found->second.size);
  WriteEnd<SegmentFreedRecord>(found->second.id, Source::kCallback, call.time);
  segments_.erase(found);
}

void Recorder::OnHeapRegistered(ThreadState& thread, const Call& call, std::string_view name) {
  FlushPieces(thread);
  DropSegment(call, call.address);
  PoolId pool = PoolAt(call.address);
  AddSegment(call, pool ? pool : NamedPool(thread, call, name));
}

void Recorder::OnHeapUnregistered(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  DropSegment(call, call.address);
}

void Recorder::OnHeapReset(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  auto found = segments_.find(call.address);
  if (found != segments_.end()) DropPieces(call, call.address, found->second.size);
}

void Recorder::OnPoolNamed(ThreadState& thread, const Call& call, std::string_view name) {
  FlushPieces(thread);
  pool_ranges_[call.address] = {call.size, NamedPool(thread, call, name)};
}

void Recorder::OnRegion(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  if (call.address == 0 || call.size == 0) return;
  waiting_.push_back({thread.tid, call});
}

void Recorder::OnBlockStream(ThreadState& thread, const Call& call) {
  for (WaitingPiece& piece : waiting_) {
    if (piece.call.address == call.address) piece.call.stream = call.stream;
  }
  FlushPieces(thread);
}

void Recorder::FlushPieces(ThreadState& thread) {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].tid != thread.tid) continue;
    Call call = waiting_[i].call;
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i--));
    WritePiece(thread, call);
  }
}

void Recorder::WritePiece(ThreadState& thread, const Call& call) {
  DropPieces(call, call.address, call.size);
  StreamId stream = StreamIdOf(thread, call);
  SegmentInfo* segment = SegmentAt(call.address);
  PoolId pool = PoolAt(call.address);
  if (segment == nullptr && pool) {  // an allocator without NVTX: the pool's range is its segment
    auto range = std::prev(pool_ranges_.upper_bound(call.address));
    Call whole = call;
    whole.address = range->first;
    whole.size = range->second.size;
    segment = &AddSegment(whole, pool);
  }
  if (!pool) pool = segment ? segment->pool : NamedPool(thread, call, "");
  CaptureInfo* capture = CaptureOf(thread, call);
  BlockId id(next_block_++);
  live_.Insert(LiveMemory::kPiece, call.address, call.size, id);
  AllocRecord r;
  r.id = id;
  r.row.address = call.address;
  r.row.size = call.size;
  r.row.pool = pool;
  r.row.stream = stream;
  if (segment != nullptr) r.row.segment = segment->id;
  if (capture != nullptr) r.row.graph = capture->graph;
  Counted(Write(call, r), &RecordCounts::blocks);
}

void Recorder::OnRecordStream(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  auto place = live_.Find(call.address);
  if (!place || call.stream == kNoStream) return;
  StreamId stream = StreamIdOf(thread, call);
  RecordStreamRecord r;
  r.row.block = place->block;
  r.row.stream = stream;
  Write(call, r);
}

void Recorder::OnFreeRequested(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  LiveMemory::Entry* entry = live_.Edit(LiveMemory::kPiece, call.address);
  if (entry == nullptr || entry->free_requested) return;
  entry->free_requested = true;
  BlockId block = entry->block;
  WriteFree<FreeRequestedRecord>(call, block, StreamIdOf(thread, call), false);
}

void Recorder::OnFreeCompleted(ThreadState& thread, const Call& call) {
  FlushPieces(thread);
  auto entry = live_.At(LiveMemory::kPiece, call.address);
  if (!entry) return;
  live_.Erase(LiveMemory::kPiece, call.address);
  const StreamId stream = StreamIdOf(thread, call);
  if (entry->free_requested) {
    WriteFree<FreeCompletedRecord>(call, entry->block, stream, false);
  } else {
    WriteFree(call, entry->block, stream, false);
  }
}

}  // namespace graphkit
