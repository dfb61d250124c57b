// The allocator of one device.
//
//     malloc ─┬─ the stream isn't captured ─► CachingAllocator of the pool (PyTorch's rules)
//             └─ it is ─► LivePool of the pool: reuse as soon as order proves it; as planned
//     free ───┬─ outside captures, recorded on streams ─► waits for events on them
//             └─ in one ─► waits for order, or for the capture's end
//
// Between launches of a pool's graphs, what they leave nothing in may be lent to one thread's
// mallocs on one stream (Borrow).
//
// A capture that no pool was begun for gets a pool of its own, which is never given back: no call
// says when its graph is gone.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "plugins/torch_allocator/cuda_driver.h"
#include "plugins/torch_allocator/graphkit_torch_allocator.h"
#include "plugins/torch_allocator/lent_ranges.h"
#include "plugins/torch_allocator/plan_guide.h"
#include "plugins/torch_allocator/private_pool.h"
#include "plugins/torch_allocator/settings.h"

namespace graphkit::torch {

// A block in lent memory that isn't freed.
struct LentBlock {
  Address address = 0;
  Bytes size = 0;
  bool operator==(const LentBlock&) const = default;
};

class DeviceAllocator {
 public:
  // `plan` may be null; it and the driver must outlive the allocator.
  DeviceAllocator(int device, const Settings& settings, CudaDriver* driver, PlanGuide* plan);

  int number() const { return segments_.device; }
  // `lent`: set where the block lies in lent memory; may be null.
  void* Malloc(Bytes size, uint64_t stream, bool* lent = nullptr);
  // False: the pointer isn't of this device.
  bool Free(void* pointer);
  bool RecordStream(void* pointer, uint64_t stream);
  bool BaseOf(const void* pointer, void** base, size_t* size);
  void* SegmentMalloc(Bytes size);
  bool SegmentFree(void* pointer);

  void BeginPool(const PoolKey& key, StreamFilter filter);
  void EndPool(const PoolKey& key);
  void ReleasePool(const PoolKey& key);
  // Until Return this thread's mallocs on the stream, outside of captures, are served with what the
  // pool's graphs leave nothing in, as long as that lasts. Returns its bytes; 0: nothing is lent.
  // The caller orders the stream after the pool's launches so far, and launches none.
  Bytes Borrow(const PoolKey& key, uint64_t stream);
  // Those that aren't freed, or one without an address where the driver wouldn't order a stream
  // that a freed one was recorded on: as long as there are any, the memory isn't back. None: what
  // the stream gets from here on comes after all uses of lent memory.
  std::vector<LentBlock> Return(const PoolKey& key);
  void EmptyCache();
  void SetFraction(double fraction);

  graphkit_allocator_figures figures();
  void ResetPeaks();

 private:
  struct Lending;
  struct Block {
    Address address = 0;
    Bytes requested = 0;
    Bytes size = 0;
    uint64_t stream = 0;
    PrivatePool* pool = nullptr;
    std::vector<uint64_t> streams = {};  // recorded, other than its own
    // In a capture; otherwise a block of the pool's eager part.
    bool captured = false;
    uint32_t id = 0;       // a BlockHandle or a BlockId
    uint64_t capture = 0;  // in which it was allocated
    size_t since = 0;      // nodes of the capture that were known then
    bool lent = false;     // in memory that was lent; null: it was returned
    Lending* lending = nullptr;
  };
  // Memory of a pool that is lent, from Borrow to Return.
  struct Lending {
    PrivatePool* pool = nullptr;
    std::thread::id thread;
    uint64_t stream = 0;
    LentRanges ranges;
    bool open = true;                      // serves mallocs
    std::map<Address, Bytes> blocks = {};  // that aren't freed
    Bytes used = 0;
    std::vector<uint64_t> streams = {};  // that freed ones were recorded on
  };
  struct Redirection {
    PrivatePool* pool = nullptr;
    StreamFilter filter;
  };
  // How far a pool is in the plan of a capture; of a sequence, of all captures.
  struct PlannedUse {
    uint64_t capture = 0;  // 0: a sequence
    PrivatePool* pool = nullptr;
    PlanCursor cursor;
    PlanArena* arena = nullptr;  // null: there was no memory for it
  };
  // A capture that something was allocated or freed in.
  struct OpenCapture {
    uint64_t id = 0;
    uint64_t stream = 0;  // one of it
    LiveOrder order;
    std::vector<PrivatePool*> pools = {};
    bool counted = false;                            // it has allocated something
    const std::vector<PlannedPool>* plan = nullptr;  // by pool; null: the plan lacks it
  };
  struct WaitingFree {
    Block block;
    size_t events = 0;  // that aren't done
  };
  struct StreamEvent {
    CUevent event = nullptr;
    std::list<WaitingFree>::iterator free;
  };

  // device_allocator.cpp: outside captures.
  void* MallocEager(Bytes size, uint64_t stream, PrivatePool* pool);
  void FreeEager(const Block& block);
  void WaitForStreams(const Block& block);
  std::optional<uint64_t> CapturedStream(const Block& block);
  void LookAtCaptures();
  void Complete(const Block& block);
  void WaitForEvents(const Block& block);
  void EventOver(std::list<WaitingFree>::iterator free);
  void LookAtEvents();
  void WaitForAll();
  void GiveBackCached();
  void* HandOut(Block block);

  // device_captures.cpp: in captures.
  void* MallocCaptured(Bytes size, uint64_t stream, const StreamCapture& info);
  std::optional<BlockId> Place(Bytes size, PrivatePool* pool, OpenCapture* capture,
                               const LiveAsker& asker);
  std::optional<BlockId> PlaceAsPlanned(Bytes size, PrivatePool* pool, OpenCapture* capture,
                                        const LiveAsker& asker);
  PlannedUse* PlanOf(PrivatePool* pool, OpenCapture* capture);
  OpenCapture& Open(const StreamCapture& info, uint64_t stream);
  PrivatePool* PoolOfCapture(uint64_t stream, uint64_t capture);
  bool FreeInCapture(const Block& block);
  void FreeByOrder(const Block& block, OpenCapture* capture,
                   const std::vector<StreamCapture>& streams);
  void EndCaptures();
  void SayCompleted(PrivatePool* pool);
  void JoinCapture(PrivatePool* pool, OpenCapture* capture);
  void EndPlan(uint64_t capture);

  // device_borrow.cpp
  Lending* LendingOf(const PrivatePool* pool);
  void* MallocLent(Bytes size, uint64_t stream);
  void FreeLent(const Block& block);
  bool WaitFor(uint64_t stream, uint64_t later);
  void Forget(Lending* lending);

  // device_pools.cpp
  PrivatePool* FindPool(const PoolKey& key);
  PrivatePool* AddPool(const PoolKey& key, const std::string& name);
  PrivatePool* Redirected(uint64_t stream);
  void GiveBackReleased();

  const Settings& settings_;
  CudaDriver* driver_;
  PlanGuide* plan_;
  std::mutex mutex_;
  DeviceSegments segments_;
  Segments plain_segments_;       // of PyTorch's own pools
  std::list<PrivatePool> pools_;  // the first: the default pool
  std::vector<Redirection> redirections_;
  std::list<Lending> lendings_;
  std::unordered_map<Address, Block> blocks_;
  std::unordered_map<Address, Bytes> plain_;  // of plain_segments_

  std::list<WaitingFree> waiting_;                                // for events
  std::unordered_map<uint64_t, std::deque<StreamEvent>> events_;  // by stream
  // For streams that no event could be recorded on: until the device has nothing left to do. One
  // for each such stream of a block.
  std::vector<std::list<WaitingFree>::iterator> unproved_;
  // Until no stream of theirs is captured; by one that is, or was.
  std::unordered_map<uint64_t, std::vector<Block>> held_;

  std::list<OpenCapture> captures_;
  std::list<PlannedUse> planned_;  // of captures that go on, or of a sequence
  graphkit_allocator_figures figures_ = {};
};

}  // namespace graphkit::torch
