#include "libgraphkit/io/merge/same_memory.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

struct DriverBlock {
  Address address;
  Bytes size;
  int64_t wall = kAtOnce;  // when it was given; of a snapshot's, when its segment was written down
};

// The blocks, each followed by its segment, which has the time in a snapshot.
struct Recorded {
  explicit Recorded(const std::vector<DriverBlock>& blocks) {
    TraceBuilder t;
    const StreamId stream = t.Stream();
    const PoolId segments = t.Pool(PoolKind::kAllocator);
    t.SetPool(t.Pool(PoolKind::kDevice));
    for (const DriverBlock& block : blocks) {
      t.AllocAt(stream, block.size, block.address);
      t.Segment(segments, block.size, stream);
    }
    trace = t.Record();
    wall.assign(trace.records, kAtOnce);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Seq at = trace.blocks[i].allocated;
      wall[at] = wall[at + 1] = blocks[i].wall;
    }
  }

  Trace trace;
  std::vector<int64_t> wall;
};

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Pairs Paired(const Recorded& snapshot, const Recorded& base, NotJoinedList* not_joined = nullptr) {
  NotJoinedList ignored;
  Pairs pairs;
  for (const auto& [here, there] :
       SameDriverBlocks({snapshot.trace, snapshot.wall}, {base.trace, base.wall}, kClocksAgree,
                        not_joined ? not_joined : &ignored)) {
    pairs.emplace_back(here.value, there.value);
  }
  return pairs;
}

// snapshot     [    60    ]            [ 40 ]
// trace        [ 20][ 20][ 20][ 20]    [ 20]
TEST_CASE("a piece of an expandable segment is a run of adjacent blocks") {
  const Recorded snapshot({{1000, 60}, {2000, 40}});
  const Recorded base({{1000, 20}, {1020, 20}, {1040, 20}, {1060, 20}, {2000, 20}});
  NotJoinedList not_joined;
  CHECK(Paired(snapshot, base, &not_joined) == Pairs{{0, 0}});
  CHECK(not_joined.Take() ==
        std::vector<NotJoined>{
            {"segments of the snapshot whose memory the trace didn't see asked for",
             1,
             {"block 1"}}});
}

TEST_CASE("without times pieces at one address are matched from the end") {
  const Recorded snapshot({{1000, 40}});
  const Recorded base({{1000, 20}, {1020, 20}, {1000, 20}, {1020, 20}});
  CHECK(Paired(snapshot, base) == Pairs{{0, 2}});
}

//     trace      x  y    (a pause)  x' y'    (a pause)  x" y"
//     snapshot    x  y ──────────────────────────────────────
TEST_CASE("a segment is the memory given before it, not what a resume maps at its address") {
  const Recorded base({{1000, 20, 100 * kMillisecond},
                       {2000, 20, 200 * kMillisecond},
                       {1000, 20, 900 * kMillisecond},
                       {2000, 20, 901 * kMillisecond},
                       {1000, 20, 1900 * kMillisecond},
                       {2000, 20, 1901 * kMillisecond}});
  CHECK(Paired(Recorded(
                   {{1000, 20, 100 * kMillisecond + 9000}, {2000, 20, 200 * kMillisecond + 9000}}),
               base) == Pairs{{0, 0}, {1, 1}});
  // A history that begins between the two finds what was mapped then.
  CHECK(Paired(Recorded({{1000, 20}, {2000, 20}, {3000, 20, 1000 * kMillisecond}}), base) ==
        Pairs{{0, 2}, {1, 3}});
}

// An address that the allocator gave back, by empty_cache say, comes back for another pool; once it
// is too small.
TEST_CASE("segments at one address are each the memory of their time that is large enough") {
  const Recorded base({{1000, 20, 100 * kMillisecond},
                       {1000, 60, 200 * kMillisecond},
                       {1000, 20, 300 * kMillisecond},
                       {1000, 60, 400 * kMillisecond}});
  const Recorded snapshot({{1000, 20, 101 * kMillisecond},
                           {1000, 60, 201 * kMillisecond},
                           {1000, 60, 401 * kMillisecond}});
  CHECK(Paired(snapshot, base) == Pairs{{0, 0}, {1, 1}, {2, 3}});
  CHECK(Paired(Recorded({{1000, 60, 301 * kMillisecond}}), base) == Pairs{{0, 1}});
}

// A piece in the middle is unmapped: what is left on both sides is the memory that was there.
TEST_CASE("what is left of a segment is the memory that it was") {
  const Recorded base({{1000, 20, 100 * kMillisecond},
                       {1020, 20, 100 * kMillisecond},
                       {1040, 20, 100 * kMillisecond}});
  const Recorded snapshot({{1000, 60, 100 * kMillisecond},
                           {1000, 20, 800 * kMillisecond},
                           {1040, 20, 800 * kMillisecond}});
  CHECK(Paired(snapshot, base) == Pairs{{0, 0}, {1, 0}, {2, 2}});
}

TEST_CASE("the clocks' difference is a short delay's, not that of what is left of segments") {
  CHECK(ClockDifference({-20'000, -30'000, -25'000, -21'000, -22'000}) == 0);
  CHECK(ClockDifference({-300 * kMillisecond, -301 * kMillisecond, -302 * kMillisecond,
                         -300 * kMillisecond}) == -300 * kMillisecond);
  CHECK(ClockDifference({-700 * kMillisecond, -800 * kMillisecond, -900 * kMillisecond, -20'000,
                         -30'000}) == 0);
}

// The trace's clock is 1 ms ahead, so the memory seems given after its segment.
TEST_CASE("memory that seems given shortly after its segment is taken where it is nearer") {
  const Recorded base({{1000, 20, 100 * kMillisecond}, {1000, 20, 201 * kMillisecond}});
  CHECK(Paired(Recorded({{1000, 20, 200 * kMillisecond}}), base) == Pairs{{0, 1}});
  CHECK(Paired(Recorded({{1000, 20, 104 * kMillisecond}, {1000, 20, 196 * kMillisecond}}), base) ==
        Pairs{{0, 0}, {1, 1}});
}

}  // namespace
}  // namespace graphkit
