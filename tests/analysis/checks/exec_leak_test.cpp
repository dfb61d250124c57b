#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("exec-leak names the graph whose execs were never destroyed") {
  TraceBuilder t;
  const GraphId graph = t.Graph("decode");
  const GraphId other = t.Graph("prefill");
  t.Instantiate(graph);
  t.Instantiate(graph);
  t.Destroy(t.Instantiate(other));
  const Finding finding = RunForOne("exec-leak", &t);
  CHECK(finding.message == "2 execs of graph 0 'decode' were never destroyed");
  CHECK(finding.graph == graph);
}

TEST_CASE("exec-leak finds nothing when all execs are destroyed") {
  TraceBuilder t;
  t.Destroy(t.Instantiate(t.Graph()));
  CHECK(Run("exec-leak", &t).empty());
}

// Graphs with memory in a pool of this kind, whose execs live to the end; the last one is destroyed
// where `shut_down`.
std::vector<Finding> Kept(int graphs, PoolKind kind, bool shut_down = false,
                          std::string_view program = "server") {
  TraceBuilder t;
  t.SetProgram(program);
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(kind));
  ExecId exec;
  for (int i = 0; i < graphs; ++i) {
    const GraphId graph = t.BeginCapture(s);
    t.Alloc(s, 512);
    t.Kernel(s);
    t.EndCapture(s);
    exec = t.Instantiate(graph);
    t.Launch(exec, s);
  }
  if (shut_down) t.Destroy(exec);
  std::vector<Finding> findings = Run("exec-leak", &t);
  for (Finding& finding : findings) finding.evidence.clear();
  return findings;
}

TEST_CASE("exec-leak: all that a server keeps is one note, also if it destroys a part at its end") {
  for (const bool shut_down : {false, true}) {
    const std::vector<Finding> kept = Kept(20, PoolKind::kPrivate, shut_down);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].severity == Severity::kNote);
    CHECK(kept[0].message == std::string("kept until the end: 1 exec of graph 0; the same of ") +
                                 (shut_down ? "18" : "19") + " more graphs");
  }
  CHECK(Kept(20, PoolKind::kDevice).size() == 20);
}

TEST_CASE("exec-leak: an exec with a private pool may be kept on purpose") {
  CHECK(Kept(1, PoolKind::kPrivate) ==
        std::vector{Finding{.check = "exec-leak",
                            .severity = Severity::kNote,
                            .harm = Harm::kLeak,
                            .message = "kept until the end: 1 exec of graph 0",
                            .graph = GraphId(0u)}});
  CHECK(Kept(1, PoolKind::kPrivate, false, "/usr/bin/python3.11").empty());
  CHECK(Kept(1, PoolKind::kDevice, false, "/usr/bin/python3.11").size() == 1);
  CHECK(Kept(1, PoolKind::kDevice) ==
        std::vector{Finding{.check = "exec-leak",
                            .harm = Harm::kLeak,
                            .message = "1 exec of graph 0 was never destroyed",
                            .advice = "call cudaGraphExecDestroy after its last launch",
                            .graph = GraphId(0u)}});
}

// Four graphs that one line captures, each launched before the next is made; `again`: and later.
std::vector<Finding> CapturedAnew(bool again, bool dropped) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  std::vector<ExecId> execs;
  for (int i = 0; i < 4; ++i) {
    if (dropped && i > 0) t.Destroy(execs.back());
    const PoolId pool = t.Pool(PoolKind::kPrivate);
    t.SetPool(pool);
    t.Segment(pool, 1 << 20, s);
    t.SetStack(t.Stack({{"capture", "serve.py", 20}}));
    const GraphId graph = t.BeginCapture(s);
    t.Alloc(s, 512);
    t.Kernel(s);
    t.EndCapture(s);
    t.SetStack({});
    execs.push_back(t.Instantiate(graph));
    t.Destroy(graph);
    t.Launch(execs.back(), s);
  }
  if (again) {
    for (const ExecId exec : execs) t.Launch(exec, s);
  }
  for (const ExecId exec : execs) {
    if (t.trace()[exec].destroyed == kNever) t.Destroy(exec);
  }
  return Run("exec-leak", &t);
}

TEST_CASE("exec-leak names graphs that are kept although the next of their line replaced them") {
  const std::vector<Finding> findings = CapturedAnew(false, false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "3 execs were each replaced by a newer one and never launched again, but not destroyed, "
        "graph 0 first; their pools hold 3 MiB");
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].bytes == 3 << 20);
  CHECK(CapturedAnew(true, false).empty());
  CHECK(CapturedAnew(false, true).empty());
}

}  // namespace
}  // namespace graphkit
