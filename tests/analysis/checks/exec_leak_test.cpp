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

// An exec that lives to the end, with its memory in a pool of this kind; `again`: launched after
// the last capture.
Finding KeptInPool(PoolKind kind, bool again) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(kind));
  const GraphId graph = t.BeginCapture(s);
  t.Alloc(s, 512);
  t.Kernel(s);
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, s);
  t.BeginCapture(s);
  t.EndCapture(s);
  if (again) t.Launch(exec, s);
  Finding finding = RunForOne("exec-leak", &t);
  finding.evidence.clear();
  return finding;
}

// Graphs with private pools, each launched once; `shut_down`: the last one is destroyed at the end.
std::vector<Finding> KeptByServer(int graphs, bool shut_down) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(PoolKind::kPrivate));
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
  return Run("exec-leak", &t);
}

TEST_CASE("exec-leak: all that a killed server keeps is one note") {
  const std::vector<Finding> killed = KeptByServer(20, false);
  REQUIRE(killed.size() == 1);
  CHECK(killed[0].severity == Severity::kNote);
  CHECK(killed[0].message ==
        "kept until the end: the execs of 20 graphs, graph 0 first; the process ended without "
        "shutting down");
  CHECK(KeptByServer(20, true).size() == 19);
  CHECK(KeptByServer(3, false).size() == 3);
}

TEST_CASE("exec-leak: an exec with a private pool that is launched to the end is kept on purpose") {
  const Finding never{.check = "exec-leak",
                      .harm = Harm::kLeak,
                      .message = "1 exec of graph 0 was never destroyed",
                      .advice = "call cudaGraphExecDestroy after its last launch",
                      .graph = GraphId(0u)};
  CHECK(KeptInPool(PoolKind::kPrivate, true) ==
        Finding{.check = "exec-leak",
                .severity = Severity::kNote,
                .harm = Harm::kLeak,
                .message = "kept until the end: 1 exec of graph 0, launched after the last capture",
                .graph = GraphId(0u)});
  CHECK(KeptInPool(PoolKind::kPrivate, false) == never);
  CHECK(KeptInPool(PoolKind::kDevice, true) == never);
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
        "3 execs are kept until the end and were never launched again once the next was made in "
        "their place, graph 0 first; their pools hold 3 MiB");
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].bytes == 3 << 20);
  CHECK(CapturedAnew(true, false).empty());
  CHECK(CapturedAnew(false, true).empty());
}

}  // namespace
}  // namespace graphkit
