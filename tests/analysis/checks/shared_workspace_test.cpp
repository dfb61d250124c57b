#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/ran/launch_order.h"
#include "tests/analysis/checks/run.h"
#include "tests/random.h"

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
  std::vector<std::string> texts;
  for (const Evidence& evidence : finding.evidence) texts.push_back(evidence.text);
  CHECK(texts ==
        std::vector<std::string>{"launch 0 of graph 0 on stream 0 'a'",
                                 "launch 1 of graph 1 on stream 1 'b' isn't ordered with it",
                                 "node 0 (gemm) was captured on stream 0 'a'",
                                 "node 1 (gemm) was captured on stream 1 'b'",
                                 "block 0 (8 KiB) was allocated before the first capture"});
}

TEST_CASE("shared-workspace names two execs of one graph that run at once") {
  for (const bool one_exec : {false, true}) {
    TwoGemms g(ReadsWrites);
    const ExecId other = one_exec ? g.first_exec : g.t.Instantiate(g.first);
    g.t.Launch(g.first_exec, g.a);
    g.t.Launch(other, g.b);
    const std::vector<Finding> found = Run("shared-workspace", &g.t);
    CHECK(found.size() == (one_exec ? 0 : 1));
    if (one_exec) continue;
    CHECK(found.at(0).message ==
          "two execs of graph 0 both write block 0 (8 KiB), and were launched without order");
    CHECK(found[0].nodes.size() == 1);
    CHECK(found[0].evidence.size() == 4);
  }
}

TEST_CASE("shared-workspace doesn't judge nodes whose parameters differ from launch to launch") {
  TwoGemms g(ReadsWrites);
  g.t.Launch(g.first_exec, g.a);
  g.t.Change(NodeId(0u), g.first_exec, NodeChangeKind::kParams, {ReadsWrites(g.t.Alloc({}, 64))});
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  CHECK(Run("shared-workspace", &g.t).empty());
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
        "were launched without order; another thread waited for the first one, or a function on a "
        "stream comes after it, which orders them only if the program orders its threads"));
  }
}

TEST_CASE("shared-workspace finds nothing in what both only read") {
  TwoGemms g(Reads);
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.b);
  CHECK(Run("shared-workspace", &g.t).empty());
}

TEST_CASE("shared-workspace names all graphs without order that write one block in one finding") {
  TraceBuilder t;
  const BlockId workspace = t.Alloc({}, 8192);
  std::vector<ExecId> execs;
  std::vector<StreamId> streams;
  for (int i = 0; i < 40; ++i) {
    streams.push_back(t.Stream());
    t.BeginCapture(streams.back());
    t.Kernel(streams.back(), "gemm", {Writes(workspace)});
    t.EndCapture(streams.back());
    execs.push_back(t.Instantiate(GraphId(execs.size())));
  }
  for (size_t i = 0; i < execs.size(); ++i) t.Launch(execs[i], streams[i]);
  const Finding finding = RunForOne("shared-workspace", &t);
  CHECK(finding.message ==
        "graph 0 and graph 1 both write block 0 (8 KiB), and were launched without order; so were "
        "38 more of the graphs that use this memory");
}

// Of one block: whether it is sure that there is one, and whether one may be.
std::pair<bool, bool> SlowlyShared(const Ran& trace, const std::vector<Access>& writes) {
  const LaunchOrder order(trace);
  bool sure = false, any = false;
  for (uint32_t b = 1; b < trace.launches.size(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      const Access &x = writes[trace.launches[a].exec.index()],
                   &y = writes[trace.launches[b].exec.index()];
      const bool apart = x.offset + x.length <= y.offset || y.offset + y.length <= x.offset;
      if (trace.launches[a].exec == trace.launches[b].exec || apart || order.Before(a, b)) continue;
      any = true;
      sure = sure || (x.mode == AccessMode::kWrite && y.mode == AccessMode::kWrite);
    }
  }
  return {sure, any};
}

TEST_CASE("shared-workspace finds what a comparison of all pairs of launches finds") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  for (int round = 0; round < RandomRounds(60); ++round) {
    CAPTURE(round);
    TraceBuilder t;
    const BlockId block = t.Alloc({}, 4096);
    std::vector<StreamId> streams = {t.Stream(), t.Stream(), t.Stream()};
    std::vector<ExecId> execs;
    std::vector<StreamId> of_exec;
    std::vector<Access> writes;
    for (size_t i = 0; i < 6; ++i) {
      const Bytes offset = 512 * below(7);
      writes.push_back({block, below(2) == 0 ? AccessMode::kWrite : AccessMode::kUnknown, offset,
                        512 + 512 * below(2)});
      of_exec.push_back(streams[below(3)]);
      const GraphId graph = t.BeginCapture(of_exec[i]);
      t.Kernel(of_exec[i], "gemm", {writes[i]});
      t.EndCapture(of_exec[i]);
      execs.push_back(t.Instantiate(graph));
    }
    for (int i = 0; i < 20; ++i) {
      if (below(3) == 0) {
        const size_t exec = below(6);
        t.Launch(execs[exec], of_exec[exec]);
      } else {
        t.Order(streams[below(3)], streams[below(3)]);
      }
    }
    const Ran trace = t.Build();
    const auto [sure, any] = SlowlyShared(trace, writes);
    const std::vector<Finding> findings = Run("shared-workspace", trace);
    CHECK(findings.empty() == !any);
    CHECK(sure == std::ranges::any_of(findings, [](const Finding& finding) {
            return finding.severity == Severity::kError;
          }));
  }
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
