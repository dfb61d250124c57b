// The gate against a baseline.
#include <doctest/doctest.h>

#include <algorithm>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/peak_lines.h"
#include "tests/compare/sample_subject.h"

namespace graphkit {
namespace {

TEST_CASE("findings of the baseline pass, further ones don't") {
  GateSubject before = CleanSubject();
  AddFinding(before, "unsafe-reuse", Severity::kError, 512);
  const Baseline baseline = BaselineOf(before);
  CHECK(Judge(before, {}, baseline).passed());

  GateSubject after = before;
  AddFinding(after, "unsafe-reuse", Severity::kError, 256);
  CHECK(StatusesOf(Judge(after, {}, baseline)) ==
        std::vector{FindingStatus::kFails, FindingStatus::kKnown});

  after = before;
  after.report.findings[0].bytes = 513;  // the same, but it costs more
  CHECK(Judge(after, {}, baseline).exit_code == 1);
  CHECK(Judge(after, {.allow_increase = 0.01}, baseline).passed());

  after = CleanSubject();
  AddFinding(after, "unsafe-reuse", Severity::kError, 512, {{"elsewhere", "a.cu", 1}});
  CHECK(Judge(after, {}, baseline).exit_code == 1);
}

TEST_CASE("a finding keeps its fingerprint when lines and messages move") {
  GateSubject a = CleanSubject(), b = CleanSubject();
  AddFinding(a, "block-leak", Severity::kError, 512, {{"step", "/build/1/step.cu", 42}});
  AddFinding(b, "block-leak", Severity::kError, 1024, {{"step", "/build/2/step.cu", 47}});
  b.report.findings[0].message = "block 7 is never freed";
  CHECK(FindingKeys(a, {}) == FindingKeys(b, {}));
  b.report.findings[0].places[0].frames[0].function = "other";
  CHECK(FindingKeys(a, {}) != FindingKeys(b, {}));
}

TEST_CASE("what grows over the baseline fails, within the allowed increase it doesn't") {
  const Baseline baseline = BaselineOf(WithDeferred(1000));
  CHECK(Judge(WithDeferred(1000), {}, baseline).passed());
  CHECK(Judge(WithDeferred(900), {}, baseline).passed());
  CHECK(Judge(WithDeferred(1020), {.allow_increase = 0.02}, baseline).passed());
  const GateVerdict verdict = Judge(WithDeferred(1021), {.allow_increase = 0.02}, baseline);
  CHECK(verdict.exit_code == 1);
  CHECK(ReasonsOf(verdict) ==
        Texts{"baseline-deferred: graph 0 step: deferred: 1000 B → 1021 B (+2.1%, allowed 2%)"});
}

TEST_CASE("an allowed increase beyond 2^64 bytes allows everything") {
  const Baseline baseline = BaselineOf(WithDeferred(1000));
  CHECK(Judge(WithDeferred(2000), {.allow_increase = 1e20}, baseline).passed());
  CHECK(Judge(WithDeferred(2000), {.allow_increase = 1e300}, baseline).passed());
}

TEST_CASE("graphs are compared by name, and none may come or go unseen") {
  GateSubject before = CleanSubject();
  GateSubject after = before;
  after.report.graphs[0].graph = GraphId(7u);
  CHECK(Judge(after, {}, BaselineOf(before)).passed());
  after.report.graphs[0].name = "other";
  CHECK(
      ReasonsOf(Judge(after, {}, BaselineOf(before))) ==
      Texts{"baseline: graph 7 other isn't in it; save it again if the graph is meant to be there",
            "baseline: step of the baseline wasn't captured"});
}

// Four graphs without a name: the first three are equal.
GateSubject ThreadedSubject(std::vector<uint32_t> order) {
  GateSubject subject = CleanSubject();
  subject.report.graphs.clear();
  for (uint32_t i = 0; i < order.size(); ++i) {
    GraphSummary graph;
    graph.graph = GraphId(i);
    graph.nodes = 2;
    graph.peak_live_bytes = order[i] < 3 ? 1000 : 5000;
    subject.report.graphs.push_back(graph);
    subject.contents.push_back(order[i] < 3 ? GraphContent{.hash = 1, .sample = {10, 20}}
                                            : GraphContent{.hash = 2, .sample = {10, 30}});
  }
  return subject;
}

void AddFindingTo(GateSubject& subject, uint32_t graph) {
  AddFinding(subject, "unsafe-reuse", Severity::kError, 64);
  subject.report.findings.back().graph = GraphId(graph);
}

TEST_CASE("graphs without a name pass their own baseline in any order") {
  const Baseline baseline = BaselineOf(ThreadedSubject({0, 1, 2, 3}));
  std::vector<uint32_t> order = {0, 1, 2, 3};
  do {
    CHECK(ReasonsOf(Judge(ThreadedSubject(order), {}, baseline)) == Texts());
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("one of several equal graphs that grew fails, and is named") {
  const Baseline baseline = BaselineOf(ThreadedSubject({0, 1, 2, 3}));
  GateSubject after = ThreadedSubject({3, 0, 1, 2});
  after.report.graphs[2].peak_live_bytes = 1001;
  CHECK(ReasonsOf(Judge(after, {}, baseline)) ==
        Texts{"baseline-peak: graph 2: live at the peak: 1,000 B → 1,001 B (+0.1%, allowed 0%)"});
  after = ThreadedSubject({3, 0, 1, 2});
  after.report.graphs[0].deferred_bytes = 7;
  CHECK(ReasonsOf(Judge(after, {}, baseline)) ==
        Texts{"baseline-deferred: graph 0: deferred: 0 B → 7 B (allowed 0%)"});
}

// A line of step.cu in the function f.
LineBytes Line(uint32_t line, Bytes bytes, const char* function = "f") {
  return {{function, "src/step.cu", line}, bytes};
}

GateSubject WithPeak(std::vector<LineBytes> lines) {
  GateSubject subject = CleanSubject();
  subject.report.graphs[0].peak_live_bytes = 0;
  for (const LineBytes& line : lines) *subject.report.graphs[0].peak_live_bytes += line.bytes;
  subject.peak_lines = {std::move(lines)};
  return subject;
}

TEST_CASE("a peak that grew is told by its lines") {
  const Baseline baseline = BaselineOf(WithPeak({Line(20, 4 * kMiB)}));
  CHECK(ReasonsOf(Judge(WithPeak({Line(20, 4 * kMiB), Line(22, 2 * kMiB)}),
                        {.allow_increase = 0.02}, baseline)) ==
        Texts{"baseline-peak: graph 0 step: live at the peak: 4 MiB → 6 MiB (+50%, allowed 2%); "
              "new: 2 MiB at src/step.cu:22"});
  CHECK(ReasonsOf(Judge(WithPeak({Line(20, 5 * kMiB)}), {}, baseline)) ==
        Texts{"baseline-peak: graph 0 step: live at the peak: 4 MiB → 5 MiB (+25%, allowed 0%); "
              "new: 1 MiB at src/step.cu:20"});
}

TEST_CASE("lines that an edit moved are the same, and a baseline without lines names none") {
  const std::vector<LineBytes> before = {Line(20, 4 * kMiB), Line(21, 2 * kMiB)};
  CHECK(GrownLines(before, std::vector{Line(20, kMiB), Line(21, 4 * kMiB), Line(22, 2 * kMiB)}) ==
        std::vector{Line(20, kMiB)});
  CHECK(GrownLines(before, std::vector{Line(20, 4 * kMiB, "g")}) ==
        std::vector{Line(20, 4 * kMiB, "g")});
  CHECK(GrownLines(before, before).empty());
  Baseline older = BaselineOf(WithPeak(before));
  older.traces[0].graphs[0].peak_lines.clear();
  CHECK(ReasonsOf(Judge(WithPeak({Line(20, 9 * kMiB)}), {}, older)) ==
        Texts{"baseline-peak: graph 0 step: live at the peak: 6 MiB → 9 MiB (+50%, allowed 0%)"});
}

TEST_CASE("a graph without a name that is missing is named by its memory") {
  GateSubject before = WithPeak({Line(20, 4 * kMiB)});
  before.report.graphs.push_back(before.report.graphs[0]);
  before.report.graphs[1].name = "";
  before.report.graphs[1].graph = GraphId(1u);
  before.peak_lines.push_back({Line(30, 3 * kMiB), Line(31, kMiB)});
  CHECK(ReasonsOf(Judge(WithPeak({Line(20, 4 * kMiB)}), {}, BaselineOf(before))) ==
        Texts{"baseline: graph 1 (4 MiB live at the peak; the most is 3 MiB at src/step.cu:30) of "
              "the baseline wasn't captured"});
}

TEST_CASE("findings of equal graphs are known together, those of another graph aren't") {
  GateSubject before = ThreadedSubject({0, 1, 2, 3});
  AddFindingTo(before, 0);
  AddFindingTo(before, 1);
  const Baseline baseline = BaselineOf(before);
  GateSubject after = ThreadedSubject({0, 3, 1, 2});
  AddFindingTo(after, 2);
  AddFindingTo(after, 3);
  CHECK(Judge(after, {}, baseline).passed());
  AddFindingTo(after, 0);
  CHECK(Judge(after, {}, baseline).exit_code == 1);
  after = ThreadedSubject({0, 3, 1, 2});
  AddFindingTo(after, 1);
  CHECK(StatusesOf(Judge(after, {}, baseline)) == std::vector{FindingStatus::kFails});
}

TEST_CASE("a baseline without contents knows graphs by name and order, findings by both") {
  GateSubject before = CleanSubject();
  before.report.graphs.push_back(before.report.graphs[0]);
  before.report.graphs[1].graph = GraphId(1u);
  AddFindingTo(before, 1);
  const Baseline baseline = BaselineOf(before);
  CHECK_FALSE(baseline.traces[0].graphs[0].content);
  GateSubject after = before;
  after.contents = {{.hash = 1, .sample = {1}}, {.hash = 2, .sample = {2}}};
  CHECK(Judge(after, {}, baseline).passed());
  after.report.findings[0].graph = GraphId(0u);
  CHECK(Judge(after, {}, baseline).exit_code == 1);
}

TEST_CASE("a graph of another name passes as long as it is the same graph") {
  GateSubject before = ThreadedSubject({0, 1, 2, 3});
  AddFindingTo(before, 3);
  GateSubject after = before;
  after.report.graphs[3].name = "decode";
  CHECK(Judge(after, {}, BaselineOf(before)).passed());
  after.report.graphs[3].peak_live_bytes = 5001;
  CHECK(Judge(after, {}, BaselineOf(before)).exit_code == 1);
}

TEST_CASE("a trace that the baseline doesn't have, or one that is missing, is refused") {
  const std::vector<GateSubject> both = {CleanSubject("a/rank0.json"),
                                         CleanSubject("a/rank1.json")};
  const Baseline baseline = MakeBaseline(both, JudgeGate(both, {}, {}));
  CHECK(JudgeGate({CleanSubject("b/rank0.json"), CleanSubject("b/rank1.json")}, {}, baseline)
            .passed());
  CHECK(JudgeGate({both[0]}, {}, baseline).exit_code == 3);
  const GateVerdict verdict = JudgeGate({both[0], CleanSubject("rank2.json")}, {}, baseline);
  CHECK(ReasonsOf(verdict) == Texts{"baseline: it has no entry for this trace",
                                    "baseline: rank1.json is in it and wasn't given"});
}

TEST_CASE("traces of one name are told apart by their folders") {
  const auto keys = [](std::initializer_list<const char*> files) {
    std::vector<GateSubject> subjects;
    for (const char* file : files) subjects.push_back(CleanSubject(file));
    return TraceKeys(subjects);
  };
  CHECK(keys({"/tmp/x/rank0.json", "rank1.json"}) == Texts{"rank0.json", "rank1.json"});
  CHECK(keys({"/tmp/0/trace.json", "/tmp/1/trace.json"}) == Texts{"0/trace.json", "1/trace.json"});
  CHECK(keys({"trace.json", "b/trace.json"}) == Texts{"trace.json", "b/trace.json"});
  CHECK(keys({"/trace.json"}) == Texts{"trace.json"});
  CHECK(keys({"a/b.json", "a/b.json"}) == Texts{"a/b.json", "a/b.json"});
}

}  // namespace
}  // namespace graphkit
