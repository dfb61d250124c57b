#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

struct TwoGemms : TwoStreams {
  BlockId workspace = t.Alloc({}, 8192);
  GraphId first;
  GraphId second;
  ExecId first_exec;
  ExecId second_exec;

  explicit TwoGemms(Access (*touch)(BlockId, Bytes, Bytes)) {
    first = Capture(a, touch);
    second = Capture(b, touch);
    first_exec = t.Instantiate(first);
    second_exec = t.Instantiate(second);
  }
  GraphId Capture(StreamId stream, Access (*touch)(BlockId, Bytes, Bytes)) {
    const GraphId graph = t.BeginCapture(stream);
    t.Kernel(stream, "gemm", {touch(workspace, 0, kLengthUnknown)});
    t.EndCapture(stream);
    return graph;
  }
};

TEST_CASE("shared-workspace names memory that graphs without order both write") {
  TwoGemms g(ReadsWrites);
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  const Finding finding = RunForOne("shared-workspace", &g.t);
  CHECK(finding.message ==
        "graph 0 and graph 1 both write block 0 (8 KiB), and were launched without order");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 8192);
  CHECK(finding.blocks == std::vector{g.workspace});
}

TEST_CASE("shared-workspace is a note when it isn't known whether they write") {
  TwoGemms g(Touches);
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  CHECK(RunForOne("shared-workspace", &g.t).severity == Severity::kNote);
}

TEST_CASE("shared-workspace finds nothing when the launches are ordered") {
  TwoGemms g(ReadsWrites);
  g.t.Launch(g.first_exec, g.a);
  g.t.Order(g.a, g.b);
  g.t.Launch(g.second_exec, g.b);
  g.t.Synchronize();
  g.t.Launch(g.first_exec, g.a);
  CHECK(Run("shared-workspace", &g.t).empty());
}

TEST_CASE("shared-workspace finds nothing in what both only read") {
  TwoGemms g(Reads);
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  CHECK(Run("shared-workspace", &g.t).empty());
}

}  // namespace
}  // namespace graphkit
