// The caching allocator's model against an obvious one: one list of blocks, searched from end to
// end.
#include <doctest/doctest.h>

#include <list>
#include <map>
#include <random>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "tests/alloc/allocator_segments.h"

namespace graphkit {
namespace {

// The rules for the default settings, in as few lines as they take.
class ObviousAllocator {
 public:
  explicit ObviousAllocator(DriverMemory* driver) : driver_(driver) {}

  Address Malloc(Bytes size, uint64_t stream) {
    const CachingConfig config;
    const Bytes rounded = RoundRequest(config, size);
    const bool small = rounded <= config.small_size;
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      if (it->used || it->stream != stream || it->small != small || it->size < rounded) continue;
      if (best == blocks_.end() || it->size < best->size ||
          (it->size == best->size && it->address < best->address)) {
        best = it;
      }
    }
    if (best == blocks_.end()) {
      const Bytes segment = SegmentSize(config, rounded);
      best = blocks_.insert(
          best, {*driver_->Allocate(segment), segment, stream, ++segments_, small, false});
    }
    const Bytes rest = best->size - rounded;
    if (small ? rest >= 512 : rest > config.small_size) {
      Block high = *best;
      high.address += rounded;
      high.size = rest;
      blocks_.insert(std::next(best), high);
      best->size = rounded;
    }
    best->used = true;
    return best->address;
  }

  void Free(Address address) {
    auto block = blocks_.begin();
    while (!block->used || block->address != address) ++block;
    block->used = false;
    const auto joins = [](const Block& a, const Block& b) {
      return !a.used && !b.used && a.segment == b.segment;
    };
    if (const auto next = std::next(block); next != blocks_.end() && joins(*block, *next)) {
      block->size += next->size;
      blocks_.erase(next);
    }
    if (block == blocks_.begin()) return;
    if (const auto before = std::prev(block); joins(*before, *block)) {
      before->size += block->size;
      blocks_.erase(block);
    }
  }

 private:
  struct Block {
    Address address;
    Bytes size;
    uint64_t stream;
    int segment;
    bool small;
    bool used;
  };
  DriverMemory* driver_;
  std::list<Block> blocks_;  // a segment's blocks stand together, by address
  int segments_ = 0;
};

TEST_CASE("the model places every block where the obvious allocator does") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    BumpDriver driver;
    BumpDriver other_driver;
    CachingAllocator model({}, &driver);
    ObviousAllocator obvious(&other_driver);
    std::vector<BlockHandle> live;
    for (int step = 0; step < 4000; ++step) {
      if (!live.empty() && random() % 100 < 48) {
        const size_t pick = random() % live.size();
        obvious.Free(model.address(live[pick]));
        model.Free(live[pick]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(pick));
        continue;
      }
      const Bytes size = 1 + random() % (Bytes{1} << (9 + random() % 17));
      const uint64_t stream = random() % 3;
      const std::optional<BlockHandle> block = model.Malloc({size, stream});
      REQUIRE(block.has_value());
      REQUIRE(model.address(*block) == obvious.Malloc(size, stream));
      live.push_back(*block);
    }
  }
}

// Properties of every segment list, after any calls.
void CheckSound(const CachingAllocator& model) {
  Bytes reserved = 0;
  for (const SegmentState& segment : AllocatorSegments::Of(model)) {
    Address at = segment.address;
    const SegmentState::Block* last = nullptr;
    for (const SegmentState::Block& block : segment.blocks) {
      REQUIRE(block.address == at);
      REQUIRE(block.size > 0);
      if (last && !last->used && !block.used) REQUIRE(last->mapped != block.mapped);
      if (block.mapped) reserved += block.size;
      at += block.size;
      last = &block;
    }
    REQUIRE(at == segment.address + segment.size);
  }
  REQUIRE(reserved == model.statistics().reserved);
}

TEST_CASE("under pressure and with every setting the block lists stay sound") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CachingConfig config;
    config.expandable_segments = seed % 2;
    if (seed % 3 == 0) config.max_split_size = Bytes{40} << 20;
    if (seed % 4 == 1) config.memory_limit = Bytes{600} << 20;
    if (seed % 4 == 1) config.garbage_collection_threshold = 0.6;
    BumpDriver driver(Bytes{700} << 20);
    CachingAllocator model(config, &driver);
    std::vector<BlockHandle> live;
    std::vector<BlockHandle> pending;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t what = random() % 100;
      if (what < 45 && !live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        model.RequestFree(live.back());
        pending.push_back(live.back());
        live.pop_back();
      }
      if (!pending.empty() && what % 3 != 0) {
        std::swap(pending[random() % pending.size()], pending.back());
        model.CompleteFree(pending.back());
        pending.pop_back();
      }
      if (what == 99) model.EmptyCache();
      if (what < 45) continue;
      const Bytes size = 1 + random() % (Bytes{1} << (9 + random() % 18));
      if (const auto block = model.Malloc({size, random() % 2})) live.push_back(*block);
      if (step % 16 == 0) CheckSound(model);
    }
    CheckSound(model);
    CHECK(driver.used() == model.statistics().reserved);
  }
}

}  // namespace
}  // namespace graphkit
