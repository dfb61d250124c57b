#include "libgraphkit/model/access_map.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/random.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// 0   1 KiB  2 KiB  3 KiB      8 KiB
// | x |  y   |      |  z  | … |       one segment; `memory` is all of it
struct OneSegment {
  static constexpr Address kBase = 0x200000;
  TraceBuilder t;
  StreamId s = t.Stream();
  PoolId pool = t.Pool(PoolKind::kAllocator);
  BlockId memory = t.AllocAt({}, 8192, kBase);
  SegmentId segment = t.Segment(pool, 8192, s);
  BlockId x = Alloc(0), y = Alloc(1), z = Alloc(3);

  BlockId Alloc(Bytes at) { return t.AllocAt(s, 1024, kBase + 1024 * at, segment); }
  Trace Record() {
    Trace trace = t.trace();
    trace.segments[segment.index()].address = kBase;
    trace.segments[segment.index()].block = memory;
    MapAccesses(&trace);
    return trace;
  }
};

std::vector<Access> AccessesOf(const Trace& trace, Slice slice) {
  const auto of = trace.accesses.Of(slice);
  return {of.begin(), of.end()};
}

using Accesses = std::vector<Access>;

TEST_CASE("a copy over several blocks and the memory between them touches each") {
  OneSegment one;
  one.t.BeginCapture(one.s);
  const NodeId copy = one.t.Memcpy(one.s, {Writes(one.x, 512, 3072)});
  const NodeId kernel = one.t.Kernel(one.s, "k", {Touches(one.x, 512)});
  one.t.EndCapture(one.s);
  one.t.Work(one.s, NodeKind::kMemset, {Writes(one.z, 0, 9000)});
  const Trace trace = one.Record();
  CHECK(AccessesOf(trace, trace[copy].accesses) ==
        Accesses{Writes(one.x, 512, 512), Writes(one.y, 0, 1024), Writes(one.memory, 2048, 1024),
                 Writes(one.z, 0, 512)});
  // How far a kernel goes isn't known: it may be a neighbour's business, and mostly isn't.
  CHECK(AccessesOf(trace, trace[kernel].accesses) == Accesses{Touches(one.x, 512)});
  CHECK(AccessesOf(trace, trace.works[0].accesses) ==
        Accesses{Writes(one.z, 0, 1024), Writes(one.memory, 4096, 4096)});
}

TEST_CASE("an access to a segment's memory is to the blocks that lay there then") {
  OneSegment one;
  one.t.BeginCapture(one.s);
  one.t.Free(one.y);
  const NodeId before = one.t.Memcpy(one.s, {Reads(one.memory, 1024, 2048)});
  const BlockId late = one.Alloc(2);
  const NodeId after = one.t.Memcpy(one.s, {Reads(one.memory, 1024, 2048)});
  one.t.EndCapture(one.s);
  const Trace trace = one.Record();
  CHECK(AccessesOf(trace, trace[before].accesses) == Accesses{Reads(one.memory, 1024, 2048)});
  CHECK(AccessesOf(trace, trace[after].accesses) ==
        Accesses{Reads(one.memory, 1024, 1024), Reads(late, 0, 1024)});
}

TEST_CASE("blocks of the driver beside each other are touched by one copy") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const BlockId a = t.AllocAt({}, 4096, 0x10000), b = t.AllocAt({}, 4096, 0x11000);
  t.Work(s, NodeKind::kMemcpy, {Reads(a, 0, 8192)});
  Trace trace = t.Record();
  CHECK(AccessesOf(trace, trace.works[0].accesses) ==
        Accesses{Reads(a, 0, 4096), Reads(b, 0, 4096)});
}

std::map<Address, int> BytesTouched(const Trace& trace, const Accesses& accesses) {
  std::map<Address, int> bytes;
  for (const Access& access : accesses) {
    const AccessRows& rows = access.rows;
    const Bytes layer = rows.height == 0 ? 0 : Bytes{rows.layer} * rows.pitch;
    for (Bytes at = 0; at < access.length; ++at) {
      const Bytes inside = layer == 0 ? at : at % layer;
      const bool in_row = rows.width == 0 || inside % rows.pitch < rows.width;
      const bool in_layer = layer == 0 || inside / rows.pitch < rows.height;
      if (in_row && in_layer) ++bytes[trace[access.block].address + access.offset + at];
    }
  }
  return bytes;
}

TEST_CASE("a copy in rows that runs over blocks touches the same bytes in all of them") {
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    OneSegment one;
    AccessRows rows;
    rows.pitch = static_cast<uint32_t>(2 + random.Below(700));
    rows.width = static_cast<uint32_t>(1 + random.Below(rows.pitch));
    if (random.Chance(0.5)) {
      rows.layer = static_cast<uint32_t>(1 + random.Below(5));
      rows.height = static_cast<uint32_t>(1 + random.Below(rows.layer));
    }
    Access access = Reads(one.x, random.Below(1024), 1 + random.Below(6000));
    access.rows = rows;
    one.t.Work(one.s, NodeKind::kMemcpy, {access});
    const Trace trace = one.Record();
    const Accesses parts = AccessesOf(trace, trace.works[0].accesses);
    CHECK(BytesTouched(trace, parts) == BytesTouched(trace, {access}));
    for (const Access& part : parts) CHECK(part.offset + part.length <= trace[part.block].size);
  }
}

}  // namespace
}  // namespace graphkit
