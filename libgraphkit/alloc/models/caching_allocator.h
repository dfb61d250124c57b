// PyTorch's CUDA caching allocator as a model: the same blocks at the same places, without a
// device. Rules: c10/cuda/CUDACachingAllocator.cpp of PyTorch, December 2025;
// docs/torch-allocator.md lists them.
//
// Memory is got from the driver in segments. A segment is a list of blocks; a block is allocated,
// pending (its free was requested, other streams may still use it), free, or, in an expandable
// segment, address space without memory:
//
//   segment   |  allocated  | free |  pending  |   free   |      unmapped      |
//             prev <---------------- block list ---------------------------> next
//
// A request takes the smallest free block of its stream and pool that is large enough, the lowest
// of equals; the rest is split off. Free neighbours are always one block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/alloc/models/driver_memory.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit {

// `base` with the settings of PYTORCH_ALLOC_CONF, as people write it:
// "expandable_segments:True,max_split_size_mb:128". A name alone switches it on. Known are
// expandable_segments, max_split_size_mb, roundup_power2_divisions (a number, or
// [256:1,512:2,>:8]), garbage_collection_threshold and large_segment_size_mb; any other, and a
// value that isn't one, is an error that names it.
Result<CachingConfig> WithAllocConf(CachingConfig base, std::string_view conf);

// A block that was handed out: valid until its free is complete.
using BlockHandle = uint32_t;
// A pool of the allocator; 0 is the default pool.
using PoolHandle = uint32_t;

struct AllocationRequest {
  Bytes size = 0;  // as asked for; not 0
  uint64_t stream = 0;
  PoolHandle pool = 0;
  bool capturing = false;  // in the default pool: as with another pool, no memory is given back
};

struct PoolOptions {
  bool no_split = false;  // blocks are never split
};

struct AllocatorStatistics {
  Bytes active = 0;    // rounded, free not complete (torch's active_bytes)
  Bytes reserved = 0;  // in segments
  Bytes peak_active = 0;
  Bytes peak_reserved = 0;
  uint64_t segment_allocations = 0;
  uint64_t ooms = 0;
  bool operator==(const AllocatorStatistics&) const = default;
};

// A segment as it stands.
struct SegmentState {
  struct Block {
    Address address = 0;
    Bytes size = 0;
    Bytes requested = 0;
    bool used = false;     // allocated or pending
    bool pending = false;  // used: its free was requested
    bool mapped = true;
    bool operator==(const Block&) const = default;
  };
  Address address = 0;
  Bytes size = 0;
  uint64_t stream = 0;
  PoolHandle pool = 0;
  bool small = false;
  bool expandable = false;
  std::vector<Block> blocks = {};  // by address, without gaps
};

class CachingAllocator {
 public:
  // The driver must outlive the allocator.
  CachingAllocator(CachingConfig config, DriverMemory* driver);

  // Nothing: out of memory.
  std::optional<BlockHandle> Malloc(const AllocationRequest& request);
  // At a given place, cut from the free block that begins there, as cudagraph trees restore a
  // pool's checkpoint. Nothing: none begins there, or it is smaller. `size`: rounded.
  std::optional<BlockHandle> Restore(Address address, Bytes size);
  // The user let go: the block is pending until CompleteFree.
  void RequestFree(BlockHandle block);
  // A pending block's memory may be used again.
  void CompleteFree(BlockHandle block);
  void Free(BlockHandle block) {
    RequestFree(block);
    CompleteFree(block);
  }
  // torch.cuda.empty_cache.
  void EmptyCache() { ReleaseCached(); }
  // The free segments of one private pool, as when a MemPool is destroyed.
  void EmptyPool(PoolHandle pool);

  Address address(BlockHandle block) const { return blocks_[block].address; }
  Bytes size(BlockHandle block) const { return blocks_[block].size; }

  // Private pools (graph captures, MemPool). When one is let go its free segments can be given
  // back.
  PoolHandle CreatePool(PoolOptions options = {});
  void ReleasePool(PoolHandle pool);

  // Called before everything cached is given back: the time to complete the pending frees.
  void set_synchronize_callback(std::function<void()> f) { synchronize_ = std::move(f); }

  // The segments that EmptyCache would free now, those of expandable ones aside.
  std::vector<Address> CachedSegments() const;
  // True if a request would be served without asking the driver.
  bool CanServe(const AllocationRequest& request) const;
  // Takes over a segment that exists already; returns its blocks' handles, by address. Of adopted
  // segments the first counts as the oldest, unless the caller says better (set_tie_breaker).
  std::vector<BlockHandle> AdoptSegment(const SegmentState& segment);
  // Asked which block is taken where adopted segments have free blocks of the best size, and only
  // the age of the segments decides: the addresses, of which one is returned.
  using TieBreaker = std::function<Address(std::span<const Address>)>;
  void set_tie_breaker(TieBreaker f) { tie_breaker_ = std::move(f); }

  const AllocatorStatistics& statistics() const { return statistics_; }
  const CachingConfig& config() const { return config_; }

 private:
  friend struct AllocatorSegments;  // of tests: what is where
  static constexpr uint32_t kNone = 0xffffffffu;

  struct Block {
    Address address = 0;
    Bytes size = 0;
    Bytes requested = 0;
    uint32_t prev = kNone;
    uint32_t next = kNone;
    uint32_t arena = 0;    // 2 * pool + (large ? 1 : 0)
    uint32_t stream = 0;   // index in streams_
    uint32_t segment = 0;  // expandable: index in expandable_
    uint32_t made = 0;     // which segment in the order that they were made in
    uint32_t age_base = 0;
    bool age_known = true;  // else it was free when it was adopted, and still is
    bool allocated = false;
    bool pending = false;
    bool mapped = true;
    bool expandable = false;

    bool free() const { return !allocated && !pending; }
    bool alone() const { return prev == kNone && next == kNone; }
  };

  // A free block of one stream and arena: smallest first, then by CachingConfig::ties.
  struct FreeKey {
    Bytes size = 0;
    uint32_t made = 0;  // 0 where the lowest is first
    Address address = 0;
    uint32_t block = kNone;
    bool operator<(const FreeKey& o) const {
      return std::tie(size, made, address) < std::tie(o.size, o.made, o.address);
    }
  };
  struct AddressKey {
    Address address = 0;
    uint32_t block = kNone;
    bool operator<(const AddressKey& o) const { return address < o.address; }
  };
  using FreeSet = SortedChunks<FreeKey>;

  // Half a pool: its small or its large blocks.
  struct Arena {
    std::vector<FreeSet> free;                       // by stream index
    std::vector<SortedChunks<AddressKey>> unmapped;  // by stream index
    uint32_t searches = 0;                           // what ages are counted in
  };
  struct Pool {
    PoolOptions options;
    bool used = true;
  };
  // Address space of an expandable segment.
  struct Expandable {
    Address address = 0;
    Bytes size = 0;
    Bytes page = 0;
  };
  struct Params {
    Bytes size = 0;  // rounded
    uint32_t arena = 0;
    uint32_t stream = 0;
    bool keeps_cached = false;  // no cached memory is given back for it
  };

  // Malloc.
  uint32_t StreamIndex(uint64_t stream);
  Params ParamsOf(const AllocationRequest& request, uint32_t stream) const;
  uint32_t FindFree(const Params& p) const;
  uint32_t FreeAt(Address address) const;
  FreeSet::Place BreakTie(const FreeSet& set, FreeSet::Place first) const;
  uint32_t TakeFree(const Params& p);
  uint32_t NewSegment(const Params& p);
  uint32_t FindOrMake(const Params& p);
  bool ShouldSplit(const Block& block, Bytes size) const;
  BlockHandle HandOut(uint32_t found, Bytes size, bool split, Bytes requested);

  // The block list.
  uint32_t NewBlock(const Block& like);
  void DropBlock(uint32_t block);
  uint32_t SplitLow(uint32_t block, Bytes size);
  uint32_t SplitHigh(uint32_t block, Bytes size);
  void MergeInto(uint32_t block, uint32_t neighbour);
  FreeKey KeyOf(uint32_t block) const;
  void Insert(uint32_t block);
  void Erase(uint32_t block);

  // Expandable segments.
  uint32_t NewExpandable(const Params& p);
  uint32_t FindExpandable(const Params& p);
  bool MapBlock(uint32_t block, Bytes size);
  void UnmapBlock(uint32_t block);

  // Giving back.
  void ReleaseBlock(uint32_t block);
  void ReleaseArena(uint32_t arena);
  std::vector<uint32_t> WholeSegments(uint32_t arena) const;
  void ReleaseCached();
  bool ReleaseOversize(const Params& p);
  void CollectGarbage();
  bool CollectOfUnknownAge(std::span<const uint32_t> candidates);
  std::vector<uint32_t> TakeOld(std::vector<uint32_t>* blocks) const;
  uint32_t Age(const Block& block) const { return arenas_[block.arena].searches - block.age_base; }

  void AddReserved(Bytes size);
  void AddActive(Bytes size);

  CachingConfig config_;
  DriverMemory* driver_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> spare_blocks_;
  std::vector<Arena> arenas_;
  std::vector<Pool> pools_;
  std::vector<uint64_t> streams_;
  std::vector<Expandable> expandable_;
  std::function<void()> synchronize_;
  uint32_t segments_made_ = 0;
  uint32_t segments_adopted_ = 0;
  TieBreaker tie_breaker_;
  AllocatorStatistics statistics_;
};

}  // namespace graphkit
