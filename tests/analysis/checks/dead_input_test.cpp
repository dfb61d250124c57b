#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> LaunchAfter(bool freed) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(a, "step");
  t.Kernel(a, "read", {Reads(x)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, a);
  if (freed) {
    t.Free(x);
    t.Launch(exec, a);
  }
  return Run("dead-input", &t);
}

TEST_CASE("dead-input: a launch after the free of what the graph reads") {
  const std::vector<Finding> findings = LaunchAfter(true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "graph 0 'step' was launched after memory that it touches was freed: block 0 (4 KiB)");
  CHECK(findings[0].severity == Severity::kError);
}

TEST_CASE("notes with one cause on many graphs are one, of the graph where it costs most") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  for (Bytes i = 1; i <= 5; ++i) {
    const BlockId x = t.Alloc({}, i * 4096);
    const GraphId graph = t.BeginCapture(a);
    t.Kernel(a, "read", {Touches(x)});
    t.EndCapture(a);
    t.Free(x);
    t.Launch(t.Instantiate(graph), a);
  }
  Ran trace = t.Build();
  for (Kernel& kernel : trace.kernels) kernel.params = {0, 1};
  trace.kernel_params = {{.offset = 0, .size = 64}};  // a structure: none of them is sure
  const std::vector<Finding> findings = Run("dead-input", std::move(trace));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "graph 4 was launched after memory that it touches was freed: block 4 (20 KiB); the same "
        "of 4 more graphs");
}

// The exec's node is given other parameters, or is switched off, before the memory is freed.
std::vector<Finding> LaunchAfterChange(NodeChangeKind what) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc({}, 4096), y = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(a);
  const NodeId read = t.Kernel(a, "read", {Reads(x)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, a);
  t.Change(read, exec, what, {Reads(y)});
  t.Free(x);
  t.Launch(exec, a);
  return Run("dead-input", &t);
}

TEST_CASE("dead-input doesn't judge nodes that are launched otherwise than they were made") {
  CHECK(LaunchAfterChange(NodeChangeKind::kParams).empty());
  CHECK(LaunchAfterChange(NodeChangeKind::kDisabled).empty());
  CHECK(LaunchAfterChange(NodeChangeKind::kEnabled).size() == 1);
}

TEST_CASE("dead-input finds nothing while the input lives") { CHECK(LaunchAfter(false).empty()); }

// A block of a private pool that is freed once the graph is captured; `retaken`: and given to
// somebody outside of graphs.
std::vector<Finding> LaunchInPrivatePool(bool retaken, bool segment_freed) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  t.SetPool(pool);
  const SegmentId segment = t.Segment(pool, 1 << 20, a);
  const Address address = t.trace()[segment].address;
  const BlockId x = t.AllocAt(a, 4096, address, segment);
  const GraphId graph = t.BeginCapture(a, "step");
  t.Kernel(a, "read", {Reads(x)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Free(x);
  if (retaken) t.AllocAt(a, 512, address + 512, segment);
  if (segment_freed) t.FreeSegment(segment);
  t.Launch(exec, a);
  return Run("dead-input", &t);
}

// Graph `first` writes a block of the pool and frees it in the capture of `second`, which reads it;
// a warm-up uses the pool in between. `first_again`: it is launched after that, too.
std::vector<Finding> LaunchAfterWarmUp(bool first_again) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  t.SetPool(pool);
  const SegmentId segment = t.Segment(pool, 1 << 20, a);
  const Address address = t.trace()[segment].address;
  const GraphId first = t.BeginCapture(a, "first");
  const BlockId x = t.AllocAt(a, 4096, address, segment);
  t.Kernel(a, "write", {Writes(x)});
  t.EndCapture(a);
  const GraphId second = t.BeginCapture(a, "second");
  t.Kernel(a, "read", {Reads(x)});
  t.Free(x);
  t.EndCapture(a);
  const ExecId one = t.Instantiate(first), two = t.Instantiate(second);
  t.Launch(one, a);
  t.Launch(two, a);
  t.Free(t.AllocAt(a, 512, address + 512, segment));
  if (first_again) t.Launch(one, a);
  t.Launch(two, a);
  return Run("dead-input", &t);
}

TEST_CASE("dead-input doesn't judge memory that its graph has written again after a warm-up") {
  CHECK(LaunchAfterWarmUp(true).empty());
  const std::vector<Finding> findings = LaunchAfterWarmUp(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "graph 1 'second' was launched after memory that it touches was freed: block 0 (4 KiB); "
        "its pool still has it, and handed it out in between: it must be written anew before the "
        "launch");
}

TEST_CASE("dead-input finds nothing where the input was made again in its place") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  t.SetPool(pool);
  const SegmentId segment = t.Segment(pool, 1 << 20, a);
  const Address address = t.trace()[segment].address;
  const BlockId x = t.AllocAt(a, 4096, address, segment);
  const GraphId graph = t.BeginCapture(a, "step");
  t.Kernel(a, "read", {Reads(x)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, a);
  t.Free(x);
  t.AllocAt(a, 4096, address, segment);
  t.Launch(exec, a);
  CHECK(Run("dead-input", &t).empty());
}

TEST_CASE("dead-input leaves to a private pool's graphs what they hand on in it") {
  CHECK(LaunchInPrivatePool(false, false).empty());
  CHECK(LaunchInPrivatePool(true, false).size() == 1);
  CHECK(LaunchInPrivatePool(false, true).size() == 1);
}

}  // namespace
}  // namespace graphkit
