#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A capture with a conditional of two bodies; each body is captured on a stream of its own.
struct Branches {
  TraceBuilder t;
  StreamId main = t.Stream("main");
  StreamId side = t.Stream("side");
  GraphId graph = t.BeginCapture(main, "step");
  BlockId outer = t.Alloc(main, 4096);
  NodeId write = t.Kernel(main, "write", {Writes(outer)});
  NodeId branch = t.Conditional(main, ConditionalType::kSwitch);
  GraphId first = t.Body(branch);
  GraphId second = t.Body(branch);
};

TEST_CASE("cross-branch-free names memory of one body that is freed in another one") {
  Branches b;
  b.t.BeginCaptureToGraph(b.side, b.first);
  const BlockId x = AllocWritten(b.t, b.side, 8192, "fill");
  b.t.EndCapture(b.side);
  b.t.BeginCaptureToGraph(b.side, b.second);
  b.t.Kernel(b.side, "use", {Reads(x)});
  b.t.Free(x);
  b.t.EndCapture(b.side);
  b.t.Free(b.outer);
  b.t.EndCapture(b.main);
  const Finding finding = RunForOne("cross-branch-free", &b.t);
  CHECK(finding.message ==
        "block 1 (8 KiB) of graph 1 is freed in graph 2, which runs only if node 1 (conditional) "
        "says so");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 8192);
  CHECK(finding.blocks == std::vector{x});
  CHECK(finding.nodes == std::vector{b.branch});
}

TEST_CASE("cross-branch-free warns of memory from outside that is freed in a body") {
  Branches b;
  b.t.BeginCaptureToGraph(b.side, b.first);
  b.t.Kernel(b.side, "use", {Reads(b.outer)});
  b.t.Free(b.outer, b.side);
  b.t.EndCapture(b.side);
  b.t.EndCapture(b.main);
  const Finding finding = RunForOne("cross-branch-free", &b.t);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.blocks == std::vector{b.outer});
  CHECK(finding.bytes == 4096);
}

TEST_CASE("cross-branch-free finds nothing in memory freed where it came from, or further out") {
  Branches b;
  b.t.BeginCaptureToGraph(b.side, b.first);
  AllocUsed(b.t, b.side, 8192, "fill");
  const BlockId y = b.t.Alloc(b.side, 8192);
  b.t.EndCapture(b.side);
  b.t.Free(y, b.main);
  b.t.Free(b.outer);
  b.t.EndCapture(b.main);
  CHECK(Run("cross-branch-free", &b.t).empty());
}

}  // namespace
}  // namespace graphkit
