#include "libgraphkit/model/normalize.h"

#include <doctest/doctest.h>

#include "libgraphkit/model/build_trace.h"

namespace graphkit {
namespace {

// One run of a program; what differs from run to run depends on `run`.
Trace Run(uint64_t run) {
  TraceBuilder t(DeviceKind::kCuda);
  t.SetThread(t.Thread("main"));
  const StreamId a = t.Stream("a");
  t.SetStack(t.Stack({{"f", run == 1 ? "/home/x/f.cu" : "/src/f.cu", static_cast<uint32_t>(run)}}));
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  // The driver puts the second segment below the first in every second run.
  const Address first = 0x7f0000000000 + run * 0x40000000;
  const Address second = run % 2 == 0 ? first - 0x10000000 : first + 0x10000000;
  const SegmentId low = t.Segment(pool, 1 << 20);
  const SegmentId high = t.Segment(pool, 1 << 20);
  t.BeginCapture(a);
  t.AllocAt(a, 512, first + 1024, low);
  t.AllocAt(a, 512, second, high);
  t.Kernel(a);
  t.EndCapture(a);
  t.SetTime(100 * run);
  Trace trace = t.Build();
  trace.segments[0].address = first;
  trace.segments[1].address = second;
  trace.process.pid = static_cast<int64_t>(1000 + run);
  trace.process.program = run == 1 ? "./app" : "/usr/bin/app";
  trace.process.args = {"-x"};
  trace.threads[0].tid = static_cast<int64_t>(1000 + run);
  for (Stream& stream : trace.streams) stream.handle += run;
  for (Graph& graph : trace.graphs) graph.handle += run;
  trace.nodes[0].duration_ns = static_cast<uint32_t>(run);
  return trace;
}

TEST_CASE("two runs of one program have the same normalized trace") {
  CHECK_FALSE(Run(1) == Run(2));
  CHECK(Normalize(Run(1)) == Normalize(Run(2)));
}

TEST_CASE("another order, size or placement shows") {
  Trace other = Run(2);
  other.blocks[0].address += 512;
  CHECK_FALSE(Normalize(Run(1)) == Normalize(other));
  other = Run(2);
  other.blocks[0].size += 1;
  CHECK_FALSE(Normalize(Run(1)) == Normalize(other));
  other = Run(2);
  other.process.args.clear();
  CHECK_FALSE(Normalize(Run(1)) == Normalize(other));
}

TEST_CASE("what is normalized stays as it is") {
  const Trace trace = Normalize(Run(1));
  CHECK(Normalize(trace) == trace);
  CHECK(trace.blocks[0].address == trace.segments[0].address + 1024);
  CHECK(trace.process.program == "app");
  CHECK(trace[trace.stack_frames[0].file] == "f.cu");
}

}  // namespace
}  // namespace graphkit
