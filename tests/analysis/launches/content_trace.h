// Programs of graphs on a few blocks, whose classes of content the tests compare.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "libgraphkit/analysis/launches/content.h"
#include "tests/build_trace.h"

namespace graphkit {

inline constexpr Bytes kSize = 4096;

// A block allocated outside of captures, a stream, and one graph of what a test captures.
struct Program {
  TraceBuilder t;
  StreamId s = t.Stream("s");
  BlockId x = t.Alloc(s, kSize);

  ExecId Captured(auto capture) {
    const GraphId graph = t.BeginCapture(s);
    capture();
    t.EndCapture(s);
    return t.Instantiate(graph);
  }
  ExecId Captured(std::initializer_list<Access> accesses, NodeKind kind = NodeKind::kMemset) {
    return Captured([&] { t.Capture(s, kind, accesses); });
  }
  // All work outside of graphs is recorded.
  std::vector<ContentRange> Find(bool all_work = true) {
    trace = t.Build();
    trace.process.all_work = all_work;
    const Facts facts(trace);
    return FindContent(facts, MarkerRule::kLastUse);
  }
  // Of a program in which graphs touch one block, by one class.
  ContentRange One(bool all_work = true) {
    const std::vector<ContentRange> ranges = Find(all_work);
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].bytes.size() == kSize);
    return ranges[0];
  }

  Ran trace;
};

inline Access WritesAll(BlockId block) { return Writes(block, 0, kSize); }

}  // namespace graphkit
