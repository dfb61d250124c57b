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

TEST_CASE("shared-workspace finds nothing where both write parts of their own") {
  for (const Bytes length : {Bytes{4096}, Bytes{4097}}) {
    TwoStreams s;
    const BlockId workspace = s.t.Alloc({}, 8192);
    for (const StreamId stream : {s.a, s.b}) {
      const GraphId graph = s.t.BeginCapture(stream);
      s.t.Kernel(stream, "gemm", {Writes(workspace, stream == s.a ? 0 : 4096, length)});
      s.t.EndCapture(stream);
      s.t.Launch(s.t.Instantiate(graph), stream);
    }
    CHECK(Run("shared-workspace", &s.t).size() == length - 4096);
  }
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

TEST_CASE("shared-workspace: what one thread waits for is no order for another one") {
  const auto launch = [](bool other_waits, bool other_launches) {
    TwoGemms g(ReadsWrites);
    const ThreadId first = g.t.Thread("first"), other = g.t.Thread("other");
    g.t.SetThread(first);
    g.t.Launch(g.first_exec, g.a);
    g.t.SetThread(other_waits ? other : first);
    g.t.Synchronize(g.a);
    g.t.SetThread(other_launches ? other : first);
    g.t.Launch(g.second_exec, g.b);
    return Run("shared-workspace", &g.t);
  };
  CHECK(launch(false, false).empty());
  CHECK(launch(true, true).empty());
  for (const bool other_waits : {false, true}) {
    const std::vector<Finding> findings = launch(other_waits, !other_waits);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::kNote);
    CHECK(findings[0].message.ends_with(
        "were launched without order; another thread waited for the first one, which orders them "
        "only if the program orders the threads"));
  }
}

TEST_CASE("shared-workspace finds nothing in what both only read") {
  TwoGemms g(Reads);
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  CHECK(Run("shared-workspace", &g.t).empty());
}

// Two graphs of one pool, captured one after the other, so that the second one's block lies where
// the first one's lay; `ordered`: the launches, too.
std::vector<Finding> SharedPool(bool ordered, PoolKind kind = PoolKind::kPrivate) {
  TwoStreams s;
  TraceBuilder& t = s.t;
  t.SetPool(t.Pool(kind));
  ExecId execs[2];
  for (ExecId& exec : execs) {
    const GraphId graph = t.BeginCapture(s.a);
    const BlockId x = t.AllocAt(s.a, 4096, 0x10000);
    t.Kernel(s.a, "expert", {Touches(x)});
    t.Free(x);
    t.EndCapture(s.a);
    exec = t.Instantiate(graph);
  }
  t.Launch(execs[0], s.a);
  if (ordered) t.Order(s.a, s.b);
  t.Launch(execs[1], s.b);
  return Run("shared-workspace", &t);
}

TEST_CASE("shared-workspace names graphs of one pool that may run at once") {
  const std::vector<Finding> findings = SharedPool(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "graph 0 and graph 1 both work in 4 KiB of pool 0, which they share, and were launched "
        "without order");
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].bytes == 4096);
  CHECK(SharedPool(true).empty());
  CHECK(SharedPool(false, PoolKind::kGraph).empty());  // the driver sees to that
}

}  // namespace
}  // namespace graphkit
