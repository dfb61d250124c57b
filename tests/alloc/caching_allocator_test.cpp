#include "libgraphkit/alloc/models/caching_allocator.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/alloc/allocator_segments.h"

namespace graphkit {
namespace {

constexpr Bytes kKiB = 1024;
constexpr Bytes kMiB = 1024 * kKiB;

// An allocator on a driver that never runs out, or runs out at `capacity`.
struct Bench {
  explicit Bench(CachingConfig config = {}, Bytes capacity = ~Bytes{0})
      : driver(capacity), allocator(config, &driver) {}
  BlockHandle Get(Bytes size, uint64_t stream = 0, PoolHandle pool = 0) {
    const std::optional<BlockHandle> block = allocator.Malloc({size, stream, pool});
    REQUIRE(block.has_value());
    return *block;
  }
  // How far a block lies from the first segment's start.
  Bytes Offset(BlockHandle block) const {
    return allocator.address(block) - BumpDriver::kFirstAddress;
  }
  std::vector<Bytes> SegmentSizes() const {
    std::vector<Bytes> sizes;
    for (const SegmentState& segment : AllocatorSegments::Of(allocator))
      sizes.push_back(segment.size);
    return sizes;
  }
  BumpDriver driver;
  CachingAllocator allocator;
};

TEST_CASE("requests are rounded to 512 bytes") {
  const CachingConfig config;
  CHECK(RoundRequest(config, 1) == 512);
  CHECK(RoundRequest(config, 512) == 512);
  CHECK(RoundRequest(config, 513) == 1024);
}

TEST_CASE("with divisions, requests are rounded to steps between powers of two") {
  CachingConfig config;
  config.roundup_power2_divisions.fill(4);
  CHECK(RoundRequest(config, 1200 * kKiB) == 1280 * kKiB);
  CHECK(RoundRequest(config, 1024 * kKiB) == 1024 * kKiB);
  CHECK(RoundRequest(config, 1025 * kKiB) == 1280 * kKiB);
  CHECK(RoundRequest(config, 2047 * kKiB) == 2048 * kKiB);
  CHECK(RoundRequest(config, 2048) == 2048);  // not above 4 · 512: to 512
  CHECK(RoundRequest(config, 2049) == 2560);
  config.roundup_power2_divisions = {};
  config.roundup_power2_divisions[3] = 2;  // 8 to 16 MiB only
  CHECK(RoundRequest(config, 9 * kMiB) == 12 * kMiB);
  CHECK(RoundRequest(config, 5 * kMiB + 1) == 5 * kMiB + 512);
}

TEST_CASE("segments are 2 MiB, 20 MiB, or of the request's own size") {
  Bench bench;
  bench.Get(1 * kMiB);
  bench.Get(1 * kMiB + 1);
  bench.Get(10 * kMiB - 1);
  bench.Get(10 * kMiB);
  bench.Get(11 * kMiB);
  CHECK(bench.SegmentSizes() == std::vector<Bytes>{2 * kMiB, 20 * kMiB, 10 * kMiB, 12 * kMiB});
}

TEST_CASE("the smallest block that fits is taken, the lowest of equals") {
  Bench bench;
  const BlockHandle a = bench.Get(4 * kKiB);
  bench.Get(512);
  const BlockHandle b = bench.Get(2 * kKiB);
  bench.Get(512);
  const BlockHandle c = bench.Get(2 * kKiB);
  bench.Get(512);
  const Bytes at_b = bench.Offset(b);
  bench.allocator.Free(c);
  bench.allocator.Free(a);
  bench.allocator.Free(b);
  CHECK(bench.Offset(bench.Get(2 * kKiB)) == at_b);
}

TEST_CASE("a small rest of 512 bytes is split off, a large one only above 1 MiB") {
  Bench bench;
  const BlockHandle small = bench.Get(2 * kMiB / 2);
  CHECK(bench.Offset(bench.Get(512)) == 1 * kMiB);
  CHECK(bench.allocator.size(small) == 1 * kMiB);
  const BlockHandle large = bench.Get(11 * kMiB);  // of a 12 MiB segment
  CHECK(bench.allocator.size(large) == 12 * kMiB);
  const BlockHandle split = bench.Get(18 * kMiB - 512);  // of an 18 MiB segment
  CHECK(bench.allocator.size(split) == 18 * kMiB);
}

TEST_CASE("free neighbours become one block, pending ones don't") {
  Bench bench;
  const BlockHandle a = bench.Get(512);
  const BlockHandle b = bench.Get(512);
  const BlockHandle c = bench.Get(512);
  bench.Get(1 * kMiB);
  bench.Get(1 * kMiB - 1536);  // the segment is full
  bench.allocator.Free(a);
  bench.allocator.RequestFree(b);
  bench.allocator.Free(c);
  const BlockHandle elsewhere = bench.Get(1536);
  CHECK(bench.Offset(elsewhere) >= 2 * kMiB);
  bench.allocator.CompleteFree(b);
  CHECK(bench.Offset(bench.Get(1536)) == 0);
}

TEST_CASE("streams don't share blocks") {
  Bench bench;
  bench.allocator.Free(bench.Get(4 * kMiB, 1));
  CHECK(bench.Offset(bench.Get(4 * kMiB, 2)) == 20 * kMiB);
  CHECK(bench.Offset(bench.Get(4 * kMiB, 1)) == 0);
}

TEST_CASE("blocks of max_split_size or more serve only requests near their size") {
  CachingConfig config;
  config.max_split_size = 64 * kMiB;
  Bench bench(config);
  bench.allocator.Free(bench.Get(100 * kMiB));
  CHECK(bench.Offset(bench.Get(12 * kMiB)) == 100 * kMiB);  // never oversize for a small request
  CHECK(bench.Offset(bench.Get(80 * kMiB)) > 100 * kMiB);   // 20 MiB would be lost
  CHECK(bench.Offset(bench.Get(81 * kMiB)) == 0);           // 19 MiB may be
}

TEST_CASE("under pressure unused segments are given back, but not for a pool or in captures") {
  Bench bench({}, 40 * kMiB);
  bench.allocator.Free(bench.Get(30 * kMiB));
  const PoolHandle pool = bench.allocator.CreatePool();
  CHECK_FALSE(bench.allocator.Malloc({20 * kMiB, 0, pool}).has_value());
  CHECK_FALSE(bench.allocator.Malloc({32 * kMiB, 0, 0, true}).has_value());
  CHECK(bench.allocator.Malloc({40 * kMiB, 0}).has_value());
  CHECK(bench.allocator.statistics().segment_allocations == 2);
  CHECK(bench.SegmentSizes() == std::vector<Bytes>{40 * kMiB});
  CHECK(bench.driver.used() == 40 * kMiB);
  CHECK(bench.allocator.statistics().ooms == 2);
}

TEST_CASE("oversize blocks are given back first, the fitting one or the largest") {
  CachingConfig config;
  config.max_split_size = 16 * kMiB;
  Bench bench(config, 100 * kMiB);
  const BlockHandle a = bench.Get(20 * kMiB);
  const BlockHandle b = bench.Get(30 * kMiB);
  const BlockHandle c = bench.Get(40 * kMiB);
  const BlockHandle small = bench.Get(2 * kKiB);
  for (BlockHandle block : {a, b, c, small}) bench.allocator.Free(block);
  bench.Get(66 * kMiB);
  CHECK(bench.SegmentSizes() == std::vector<Bytes>{20 * kMiB, 2 * kMiB, 66 * kMiB});
}

TEST_CASE("garbage collection gives back segments older than the average") {
  CachingConfig config;
  config.memory_limit = 200 * kMiB;
  config.garbage_collection_threshold = 0.35;
  Bench bench(config);
  const BlockHandle a = bench.Get(30 * kMiB);
  const BlockHandle b = bench.Get(24 * kMiB);
  bench.allocator.Free(a);
  bench.Get(2 * kMiB, 1);  // another stream's requests age it
  bench.Get(2 * kMiB, 1);
  bench.allocator.Free(b);
  bench.Get(40 * kMiB, 1);  // above 70 MiB: a goes, b is younger
  CHECK(bench.SegmentSizes() == std::vector<Bytes>{24 * kMiB, 20 * kMiB, 40 * kMiB});
}

TEST_CASE("of equal blocks the lowest is taken, or that of the oldest segment") {
  for (const auto ties : {CachingConfig::Ties::kLowest, CachingConfig::Ties::kOldestSegment}) {
    CachingConfig config;
    config.ties = ties;
    Bench bench(config);
    const Address high = Address{1} << 42;
    for (const Address at : {high, high - 2 * kMiB}) {
      const SegmentState::Block block{.address = at, .size = 2 * kMiB};
      bench.allocator.AdoptSegment(
          {.address = at, .size = 2 * kMiB, .small = true, .blocks = {block}});
    }
    const bool oldest = ties == CachingConfig::Ties::kOldestSegment;
    CHECK(bench.allocator.address(bench.Get(512)) == (oldest ? high : high - 2 * kMiB));
  }
}

TEST_CASE("a pool that is destroyed gives back its own memory alone") {
  Bench bench;
  const PoolHandle pool = bench.allocator.CreatePool();
  bench.allocator.Free(bench.Get(30 * kMiB));
  bench.allocator.Free(bench.Get(4 * kMiB, 0, pool));
  bench.allocator.EmptyPool(pool);
  CHECK(bench.SegmentSizes() == std::vector<Bytes>{30 * kMiB});
}

TEST_CASE("a pool's blocks are its own") {
  Bench bench;
  const PoolHandle outer = bench.allocator.CreatePool();
  const PoolHandle inner = bench.allocator.CreatePool();
  bench.allocator.Free(bench.Get(4 * kMiB));
  bench.Get(4 * kMiB, 0, outer);
  const BlockHandle b = bench.Get(4 * kMiB, 0, inner);
  bench.Get(4 * kMiB);
  bench.allocator.Free(b);
  bench.allocator.EmptyCache();
  CHECK(bench.SegmentSizes().size() == 3);
  bench.allocator.ReleasePool(inner);
  bench.allocator.EmptyCache();
  CHECK(bench.SegmentSizes().size() == 2);
}

TEST_CASE("a pool may forbid splitting") {
  Bench bench({}, 20 * kMiB);
  const PoolHandle pool = bench.allocator.CreatePool({.no_split = true});
  const BlockHandle whole = bench.Get(4 * kMiB, 0, pool);
  CHECK(bench.allocator.size(whole) == 20 * kMiB);
}

TEST_CASE("an expandable segment grows by pages and is served from its low end") {
  CachingConfig config;
  config.expandable_segments = true;
  Bench bench(config);
  const BlockHandle a = bench.Get(30 * kMiB);
  const BlockHandle b = bench.Get(30 * kMiB);
  CHECK(bench.Offset(a) == 0);
  CHECK(bench.Offset(b) == 30 * kMiB);
  CHECK(bench.allocator.statistics().reserved == 60 * kMiB);
  bench.allocator.Free(a);
  bench.allocator.Free(b);
  CHECK(bench.Offset(bench.Get(70 * kMiB)) == 0);
  CHECK(bench.allocator.statistics().reserved == 80 * kMiB);
}

TEST_CASE("of an expandable segment whole free pages are given back, from the middle too") {
  CachingConfig config;
  config.expandable_segments = true;
  Bench bench(config);
  const BlockHandle a = bench.Get(10 * kMiB);
  const BlockHandle b = bench.Get(45 * kMiB);
  bench.Get(5 * kMiB);
  bench.allocator.Free(b);
  bench.allocator.EmptyCache();
  CHECK(bench.allocator.statistics().reserved == 40 * kMiB);  // [20, 40) MiB is gone
  CHECK(bench.Offset(bench.Get(15 * kMiB)) == 40 * kMiB);
  CHECK(bench.Offset(bench.Get(25 * kMiB)) == 10 * kMiB);  // maps [20, 40) MiB again
  CHECK(bench.allocator.statistics().reserved == 60 * kMiB);
  bench.allocator.Free(a);
  CHECK(bench.Offset(bench.Get(10 * kMiB)) == 0);
}

TEST_CASE("statistics follow requests, frees and segments") {
  Bench bench;
  const BlockHandle a = bench.Get(1000);
  const BlockHandle b = bench.Get(3 * kMiB);
  bench.allocator.RequestFree(a);
  bench.allocator.Free(b);
  CHECK(bench.allocator.statistics() == AllocatorStatistics{.active = 1024,
                                                            .reserved = 22 * kMiB,
                                                            .peak_active = 1024 + 3 * kMiB,
                                                            .peak_reserved = 22 * kMiB,
                                                            .segment_allocations = 2});
}

}  // namespace
}  // namespace graphkit
