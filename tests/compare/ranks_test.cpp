#include "libgraphkit/compare/ranks.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "libgraphkit/compare/gate.h"
#include "tests/build_trace.h"
#include "tests/compare/sample_subject.h"

namespace graphkit {
namespace {

size_t FigureOf(std::string_view name) {
  return static_cast<size_t>(std::ranges::find(kRankFigures, name) - kRankFigures.begin());
}

RankSummary Rank(std::string trace, Bytes asked, uint64_t nodes = 2) {
  GateSubject subject = CleanSubject(std::move(trace));
  subject.report.memory->asked_bytes = asked;
  subject.report.totals.nodes = nodes;
  subject.report.graphs[0].nodes = nodes;
  return SummarizeRank(subject);
}

TEST_CASE("the worst rank is the one with the most memory, the first of those that are equal") {
  const RankReport report =
      CompareRanks({Rank("a", 5), Rank("b", 7), Rank("c", 6), Rank("d", 7), Rank("e", 1)});
  CHECK(report.by_memory == std::vector<uint32_t>{1, 3, 2, 0, 4});
  CHECK(
      report.spread[FigureOf("asked_bytes")] ==
      FigureSpread{.least = 1, .median = 6, .most = 7, .least_rank = 4, .most_rank = 1, .sum = 26});
}

TEST_CASE(
    "ranks that are alike form a group, the others say in what they differ from the largest") {
  const RankReport report =
      CompareRanks({Rank("a", 5, 3), Rank("b", 5), Rank("c", 5), Rank("d", 6)});
  const std::vector<RankGroup> expected = {
      {.ranks = {1, 2}},
      {.ranks = {0}, .figures = {{"graph 0 step", {"nodes", 2, 3}}}},
      {.ranks = {3}, .figures = {{"", {"asked_bytes", 5, 6}}}}};
  CHECK(report.groups == expected);
}

TEST_CASE("the folder that all files are in is told apart from their names") {
  CHECK(CompareRanks({Rank("a/b/c", 1), Rank("a/bc/c", 1), Rank("a/b/d", 1)}).folder == "a/");
  CHECK(CompareRanks({Rank("/a/b", 1), Rank("/c", 1)}).folder == "/");
  CHECK(CompareRanks({Rank("a", 1), Rank("b/a", 1)}).folder.empty());
}

TEST_CASE("graphs are found by name, not by their place") {
  GateSubject usual = CleanSubject("a"), other = CleanSubject("b");
  other.report.graphs[0].name = "decode";
  const RankReport report =
      CompareRanks({SummarizeRank(usual), SummarizeRank(usual), SummarizeRank(other)});
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[1].graphs_missing == std::vector<std::string>{"graph 0 step"});
  CHECK(report.groups[1].graphs_added == std::vector<std::string>{"graph 0 decode"});
}

TEST_CASE("ranks whose threads capture in another order are alike, and a change is attributed") {
  GateSubject usual = CleanSubject("a");
  usual.report.graphs.push_back(usual.report.graphs[0]);
  usual.report.graphs[1].graph = GraphId(1u);
  usual.report.graphs[1].nodes = 3;
  usual.contents = {{.hash = 7, .sample = {1, 2}}, {.hash = 8, .sample = {3, 4}}};
  GateSubject other = usual;
  std::swap(other.report.graphs[0].nodes, other.report.graphs[1].nodes);
  std::swap(other.contents[0], other.contents[1]);
  CHECK(CompareRanks({SummarizeRank(usual), SummarizeRank(other)}).groups.size() == 1);
  other.report.graphs[0].edges = 5;
  const RankReport report =
      CompareRanks({SummarizeRank(usual), SummarizeRank(usual), SummarizeRank(other)});
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[1].figures ==
        std::vector<RankFigureChange>{{"graph 1 step", {"edges", 0, 5}}});
}

TEST_CASE("a finding of several ranks is listed once, with the rank that has most of it") {
  GateSubject a = CleanSubject("a"), b = CleanSubject("b"), c = CleanSubject("c");
  AddFinding(a, "pool-leak", Severity::kWarning, 100);
  AddFinding(c, "pool-leak", Severity::kWarning, 300);
  AddFinding(c, "pool-leak", Severity::kWarning, 1);
  AddFinding(b, "exec-leak", Severity::kError, 0);
  const RankReport report = CompareRanks({SummarizeRank(a), SummarizeRank(b), SummarizeRank(c)});
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].finding.check == "exec-leak");
  const SharedFinding& leak = report.findings[1];
  CHECK(leak.ranks == std::vector<uint32_t>{0, 2});
  CHECK(leak.finding.count == 3);
  CHECK(leak.finding.bytes == 401);
  CHECK(leak.most_rank == 2);
  CHECK(leak.most_bytes == 301);
  REQUIRE(report.groups.size() == 3);
  CHECK(report.groups[2].findings ==
        std::vector<FindingChange>{
            {"pool-leak", Severity::kWarning, "something is wrong", 1, 2, 100, 301}});
}

// A rank that runs an operation of `count` elements.
GateSubject Collecting(std::string file, uint32_t rank, uint64_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const CommunicatorId both = t.Communicator(2, rank, 7);
  const GraphId graph = t.BeginCapture(stream, "step");
  t.Kernel(stream, "ncclAllReduce");
  t.Collect(both, CollectiveKind::kAllReduce, count, ElementType::kBf16);
  t.EndCapture(stream);
  t.Launch(t.Instantiate(graph), stream);
  return MakeGateSubject(std::move(file), Facts(t.Build()), CleanSubject().report);
}

TEST_CASE("findings of one check that only one rank has, and only the other one, are one line") {
  RankSummary a = Rank("a", 5), b = Rank("b", 5);
  a.findings = {{.fingerprint = "x", .check = "reuse-opportunity", .count = 1, .bytes = 512},
                {.fingerprint = "z", .check = "exec-leak", .count = 1}};
  b.findings = {{.fingerprint = "y", .check = "reuse-opportunity", .count = 1, .bytes = 1024}};
  const RankReport report = CompareRanks({a, b});
  REQUIRE(report.groups.size() == 2);
  const std::vector<FindingChange>& changes = report.groups[1].findings;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].check == "reuse-opportunity");
  CHECK(changes[0].count_before == 1);
  CHECK(changes[0].count_after == 1);
  CHECK(changes[0].bytes_before == 512);
  CHECK(changes[0].bytes_after == 1024);
  CHECK(changes[1].check == "exec-leak");
  CHECK(changes[1].count_after == 0);
}

TEST_CASE("operations that differ between ranks are a finding of the trace that differs") {
  for (const uint64_t count : {8u, 9u}) {
    std::vector<GateSubject> subjects;
    for (const uint32_t rank : {0u, 1u}) {
      subjects.push_back(
          Collecting("rank" + std::to_string(rank) + ".json", rank, rank == 1 ? count : 8));
    }
    std::vector<GateSubject> others = subjects;
    AddRankDifferences(others, {"late-free"});
    CHECK(others == subjects);
    AddRankDifferences(subjects);
    const RankReport report = CompareRanks(SummarizeRanks(subjects));
    REQUIRE(report.findings.size() == (count == 8 ? 0 : 1));
    if (count == 8) continue;
    CHECK(report.findings[0].finding.check == "collective-size");
    CHECK(report.findings[0].ranks == std::vector<uint32_t>{1});
    CHECK(*report.ranks[1].figures[FigureOf("errors")] == 1);
  }
}

TEST_CASE("the gate fails for operations that differ between ranks") {
  std::vector<GateSubject> subjects = {Collecting("rank0.json", 0, 8),
                                       Collecting("rank1.json", 1, 9)};
  AddRankDifferences(subjects);
  const GateVerdict verdict = JudgeGate(subjects, {}, std::nullopt);
  CHECK(verdict.exit_code == 1);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].trace == 1);
  CHECK(subjects[1].report.findings[0].check == "collective-size");
}

TEST_CASE(
    "two traces have the same structure when their graphs are equal but for ids and streams") {
  const auto capture = [](const char* kernel, bool more_streams) {
    TraceBuilder t;
    if (more_streams) t.Stream();
    const StreamId stream = t.Stream();
    t.BeginCapture(stream, "step");
    t.Kernel(stream, kernel);
    t.Memset(stream);
    t.EndCapture(stream);
    return t.Build();
  };
  const auto structure = [](const Ran& trace) {
    return SummarizeRank(MakeGateSubject("a", Facts(trace), CleanSubject().report)).structure;
  };
  CHECK(structure(capture("k", false)) == structure(capture("k", true)));
  CHECK(structure(capture("k", false)) != structure(capture("l", false)));
}

}  // namespace
}  // namespace graphkit
