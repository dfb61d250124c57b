// Memory: what the driver gives out and takes back, and what allocators inside the program say of
// their segments, blocks and deferred frees (docs/memory.md).
//
// A live block is in the table of its level, and blocks of one level don't overlap: whatever was
// live where memory is given out again has been freed, unseen or by a call that has not returned.
//
// The stream of an allocator's block is told by a call of its own, right after the block. So a
// block waits for the next call of its thread before it is recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/ground/live_memory.h"
#include "plugins/cupti_tracer/recorder/eager_watch.h"
#include "plugins/cupti_tracer/recorder/streams.h"

namespace graphkit {

class Memory {
 public:
  // `watch` is told what driver memory graphs have.
  Memory(Records& records, Streams& streams, EagerWatch& watch)
      : records_(records), streams_(streams), watch_(watch) {}

  // The driver gives out memory: at once (`graph`: while one is captured), or by a node.
  void OnAlloc(const ThreadState& thread, const Call& call);
  BlockId OnAllocNode(const ThreadState& thread, const Call& call, GraphId graph);
  // It takes back what begins at the call's address: the call has begun, it has returned, or it has
  // made a node that will.
  void OnFreeing(const ThreadState& thread, const Call& call);
  void OnFree(const ThreadState& thread, const Call& call);
  BlockId OnFreeNode(const Call& call);
  // A node touches memory there: work on it outside of graphs matters from now on.
  void OnNodeTouches(std::span<const Address> addresses);

  // Physical memory, by its handle: made, released, known to others as well; addresses given up.
  void OnPhysical(const Call& call) { physical_.Insert(call.physical, {}); }
  void OnPhysicalRelease(uint64_t handle);
  void OnShare(const Call& call);
  void OnUnreserve(const Call& call) { DropSegments(call, call.address, call.size); }

  void OnPoolCreate(const Call& call);
  void OnPoolMet(const Call& call);
  void EndPool(uint64_t handle, Source source);
  const PoolId* FindPool(uint64_t handle) const {
    const KnownPool* known = pools_.Find(handle);
    return known != nullptr ? &known->id : nullptr;
  }

  // The driver's block that begins at an address; none: kNobody.
  uint32_t IdAt(uint64_t address);
  // The innermost block that holds an address, of `length` bytes from there on.
  auto Find(uint64_t address, Bytes length = 0) const { return live_.Find(address, length); }

  // From allocators: `call` has address, size, stream, time and context.
  void OnHeapRegistered(const ThreadState& thread, const Call& call, std::string_view name);
  void OnHeapUnregistered(const ThreadState& thread, const Call& call);
  void OnHeapReset(const ThreadState& thread, const Call& call);
  void OnPoolNamed(const ThreadState& thread, const Call& call, std::string_view name);
  void OnRegion(const ThreadState& thread, const Call& call);
  void OnBlockStream(const ThreadState& thread, const Call& call);
  void OnRecordStream(const ThreadState& thread, const Call& call);
  void OnFreeRequested(const ThreadState& thread, const Call& call);
  void OnFreeCompleted(const ThreadState& thread, const Call& call);

  // The thread says nothing more for now: what waits for its next call is recorded.
  void Settle(const ThreadState& thread) {
    if (!waiting_.empty()) WriteWaiting(thread);
  }

  // How many blocks, segments, pools and handles of physical memory are known.
  size_t size() const { return live_.size() + segments_.size() + pools_.size() + physical_.size(); }

 private:
  struct Segment {
    SegmentId id;
    uint64_t size = 0;
    PoolId pool;
  };
  struct KnownPool {
    PoolId id;
    PoolKind kind;
  };
  struct PoolRange {
    uint64_t size = 0;
    PoolId pool;
  };
  // Memory to be mapped. Its handle is the same as long as it is mapped or not released (CUDA:
  // cuMemRetainAllocationHandle).
  struct Physical {
    BlockId first;  // mapping of it; none: it wasn't mapped yet
    uint32_t mappings = 0;
    bool shared = false;  // its content may come from elsewhere
    bool imported = false;
    bool released = false;   // by one that has its handle
    bool of_graphs = false;  // nodes touched a mapping of it: work on others matters, too
  };
  struct Gap {
    uint64_t size = 0;
  };
  struct WaitingPiece {  // a block whose stream may be told yet
    int64_t tid = 0;
    Call call;
  };
  struct Place {  // where a block lies, and whose it is
    StreamId stream;
    PoolId pool;
    SegmentId segment;
    GraphId graph;
    BlockId same_as = {};
  };

  BlockId WriteAlloc(LiveMemory::Level level, const Call& call, const Place& place);
  template <typename Record = FreeRecord>
  void WriteFree(const Call& call, BlockId block, StreamId stream, bool derived);
  void ForgetOverlaps(const Call& call);
  void EraseDriver(Address address);
  void Map(const Call& call, Place place);
  void WriteShared(BlockId first) {
    records_.WriteEnd<MemorySharedRecord>(first, Source::kCallback);
  }
  bool TakeUnmapped(Address address, uint64_t size);
  void MarkOfGraphs(LiveMemory::Level level, Address address, GraphId graph);

  PoolId PoolOf(const Call& call, PoolKind kind, uint64_t handle);
  PoolId OthersPool(bool mapping);
  PoolId WritePool(PoolKind kind, std::string_view name, uint64_t handle);
  PoolId NamedPool(const ThreadState& thread, const Call& call, std::string_view name);

  SegmentId AddSegment(const Call& call, PoolId pool);
  void DropSegment(const Call& call, uint64_t address);
  void DropSegments(const Call& call, uint64_t address, uint64_t size);
  void DropPieces(const Call& call, uint64_t address, uint64_t size);
  void WriteWaiting(const ThreadState& thread);
  void WritePiece(const ThreadState& thread, const Call& call);

  RangeMap<LiveMemory::Block>& driver() { return live_[LiveMemory::kDriver]; }
  RangeMap<LiveMemory::Block>& pieces() { return live_[LiveMemory::kPiece]; }

  Records& records_;
  Streams& streams_;
  EagerWatch& watch_;
  LiveMemory live_;
  HandleMap<KnownPool> pools_;
  RangeMap<Segment> segments_;
  RangeMap<PoolRange> pool_ranges_;
  std::map<std::string, PoolId, std::less<>> named_pools_;
  PoolId registered_;  // of memory of the host that was made known to CUDA
  PoolId imported_;    // of memory of other processes and APIs
  std::vector<WaitingPiece> waiting_;
  HandleMap<Physical> physical_;
  RangeMap<Gap> unmapped_;  // where nodes touched memory
  uint32_t next_block_ = 0, next_pool_ = 0, next_segment_ = 0;
};

}  // namespace graphkit
