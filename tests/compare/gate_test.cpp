#include "libgraphkit/compare/gate.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "libgraphkit/compare/baseline.h"
#include "tests/compare/sample_subject.h"

namespace graphkit {
namespace {

TEST_CASE("a clean trace passes") { CHECK(Judge(CleanSubject()) == GateVerdict()); }

TEST_CASE("errors and warnings fail by default, notes don't") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "unsafe-reuse", Severity::kError);
  AddFinding(subject, "exec-leak", Severity::kWarning);
  AddFinding(subject, "late-free", Severity::kNote);
  const GateVerdict verdict = Judge(subject);
  CHECK(verdict.exit_code == 1);
  CHECK(StatusesOf(verdict) ==
        std::vector{FindingStatus::kFails, FindingStatus::kFails, FindingStatus::kReported});
  CHECK(ReasonsOf(verdict) ==
        Texts{"unsafe-reuse: something is wrong", "exec-leak: something is wrong"});
}

TEST_CASE("fail-on names severities and checks") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "late-free", Severity::kWarning);
  AddFinding(subject, "empty-node", Severity::kNote);
  GateConfig config;
  config.fail_on_severity = Severity::kWarning;
  CHECK(StatusesOf(Judge(subject, config)) ==
        std::vector{FindingStatus::kFails, FindingStatus::kReported});
  config = {.fail_on_severity = {}, .fail_on_checks = {"empty-node"}};
  CHECK(StatusesOf(Judge(subject, config)) ==
        std::vector{FindingStatus::kFails, FindingStatus::kReported});
  config.fail_on_checks = {};
  CHECK(Judge(subject, config).passed());
}

TEST_CASE("a budget of deferred bytes is exceeded by one byte more") {
  GateConfig config;
  config.limits["max-deferred"] = 1 << 20;
  CHECK(Judge(WithDeferred(1 << 20), config).passed());
  const GateVerdict verdict = Judge(WithDeferred((1 << 20) + 1), config);
  CHECK(verdict.exit_code == 1);
  CHECK(ReasonsOf(verdict) == Texts{"max-deferred: graph 0 step: 1,048,577 B deferred, "
                                    "limit 1,048,576 B"});
}

TEST_CASE("each graph has the budget of peak live bytes for itself") {
  GateSubject subject = CleanSubject();
  subject.report.graphs.push_back(subject.report.graphs[0]);
  subject.report.graphs[1].graph = GraphId(1u);
  subject.report.graphs[1].peak_live_bytes = 9 << 20;
  GateConfig config;
  config.limits["max-peak"] = 8 << 20;
  const GateVerdict verdict = Judge(subject, config);
  CHECK(ReasonsOf(verdict) == Texts{"max-peak: graph 1 step: 9 MiB live at the peak, limit 8 MiB"});
  CHECK(verdict.measures.size() == 2);
}

// As of a drawing: graphs, and not a size.
GateSubject WithoutSizes(size_t graphs) {
  GateSubject subject = CleanSubject();
  subject.report.unknown_memory = "a drawing has no sizes";
  GraphSummary& graph = subject.report.graphs[0];
  graph.unknown_memory = subject.report.unknown_memory;
  graph.deferred_bytes = graph.peak_live_bytes = graph.never_freed_bytes = std::nullopt;
  while (subject.report.graphs.size() < graphs) {
    subject.report.graphs.push_back(subject.report.graphs[0]);
  }
  return subject;
}

TEST_CASE("a budget over unknown bytes refuses, and says which and why") {
  GateConfig config;
  CHECK(Judge(WithoutSizes(1), config).passed());
  config.limits["max-peak"] = 8 << 20;
  config.limits["max-deferred"] = 0;
  config.limits["max-leaks"] = 0;
  const GateVerdict verdict = Judge(WithoutSizes(3), config);
  CHECK(verdict.exit_code == 3);
  CHECK(ReasonsOf(verdict) ==
        Texts{"max-deferred: graph 0 step and 2 other graphs: deferred bytes can't be judged, they "
              "are unknown: a drawing has no sizes",
              "max-leaks: leaks can't be judged, they are unknown: a drawing has no sizes",
              "max-peak: graph 0 step and 2 other graphs: live bytes at the peak can't be judged, "
              "they are unknown: a drawing has no sizes"});
  CHECK(verdict.measures.size() == 7);
  for (const GateMeasure& measure : verdict.measures) {
    CHECK(measure.value == std::nullopt);
    CHECK_FALSE(measure.passed);
  }
}

TEST_CASE("a baseline over unknown bytes refuses") {
  const std::vector<GateSubject> known = {CleanSubject()}, unknown = {WithoutSizes(1)};
  const Baseline baseline = MakeBaseline(known, JudgeGate(known, {}, {}));
  const GateVerdict verdict = JudgeGate(unknown, {}, baseline);
  CHECK(verdict.exit_code == 3);
  CHECK(ReasonsOf(verdict).front() ==
        "baseline-deferred: graph 0 step: deferred bytes can't be judged, they are unknown: a "
        "drawing has no sizes");
  CHECK(verdict.reasons.size() == 3);
}

TEST_CASE("a graph that isn't launched any more fails, and which of equal ones is doesn't matter") {
  GateSubject before = CleanSubject();
  before.report.graphs[0].launches = 3;
  before.report.graphs.push_back(before.report.graphs[0]);
  before.report.graphs[1].graph = GraphId(1u);
  before.report.graphs[1].launches = 0;
  const Baseline baseline = MakeBaseline({before}, JudgeGate({before}, {}, {}));
  GateSubject after = before;
  std::swap(after.report.graphs[0].launches, after.report.graphs[1].launches);
  CHECK(JudgeGate({after}, {}, baseline).passed());
  after.report.graphs[1].launches = 0;
  CHECK(ReasonsOf(JudgeGate({after}, {}, baseline)) ==
        Texts{"baseline: graph 0 step was launched in the baseline's run, and never in this one"});
}

TEST_CASE("what the baseline knows to be reserved has to be known") {
  GateSubject before = CleanSubject();
  before.peak_outside_graphs_bytes = 1 << 20;
  const Baseline baseline = MakeBaseline({before}, JudgeGate({before}, {}, {}));
  const GateVerdict verdict = JudgeGate({CleanSubject()}, {}, baseline);
  CHECK(verdict.exit_code == 3);
  CHECK(ReasonsOf(verdict) == Texts{"baseline-reserved: reserved bytes can't be judged, they are "
                                    "unknown: no memory was recorded"});
}

TEST_CASE("leaks are what the leak checks found, block by block") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "exec-leak", Severity::kWarning);
  AddFinding(subject, "block-leak", Severity::kWarning);
  AddFinding(subject, "late-free", Severity::kWarning);
  AddFinding(subject, "event-stream-leak", Severity::kNote);
  subject.report.findings[1].blocks = {BlockId(1u), BlockId(2u)};
  GateConfig config{.fail_on_severity = Severity::kError};
  config.limits["max-leaks"] = 3;
  CHECK(Judge(subject, config).passed());
  config.limits["max-leaks"] = 2;
  CHECK(ReasonsOf(Judge(subject, config)) == Texts{"max-leaks: 3 leaks, limit 2"});
  config.suppressions = {{.check = "exec-leak", .reason = "lives as long as the process"}};
  CHECK(Judge(subject, config).passed());
}

TEST_CASE("too many leaks fail one by one, so that they are listed") {
  GateSubject subject = CleanSubject();
  subject.report.findings = {{.check = "exec-leak", .severity = Severity::kWarning},
                             {.check = "late-free", .severity = Severity::kWarning},
                             {.check = "block-leak", .severity = Severity::kNote}};
  subject.leaks = {3, 0, 0};
  const auto statuses = [&](uint64_t allowed) {
    std::vector<FindingStatus> found;
    const GateConfig config{.fail_on_severity = Severity::kError,
                            .limits = {{"max-leaks", allowed}}};
    for (const JudgedFinding& judged : Judge(subject, config).findings) {
      found.push_back(judged.status);
    }
    return found;
  };
  using enum FindingStatus;
  CHECK(statuses(3) == std::vector{kReported, kReported, kReported});
  CHECK(statuses(2) == std::vector{kFails, kReported, kReported});
}

TEST_CASE("reserved over allocated needs memory") {
  GateConfig config;
  config.limits["max-reserved-over-allocated"] = 1.1;
  GateSubject subject = CleanSubject();
  CHECK(Judge(subject, config).exit_code == 3);
  subject.peak_reserved_bytes = 120;
  subject.peak_allocated_bytes = 100;
  CHECK(ReasonsOf(Judge(subject, config)) ==
        Texts{"max-reserved-over-allocated: peak reserved is 1.2× peak allocated; limit 1.1×"});
  subject.peak_reserved_bytes = 110;
  CHECK(Judge(subject, config).passed());
}

TEST_CASE("a trace with holes is refused, whatever else was found") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "unsafe-reuse", Severity::kError);
  subject.report.complete = false;
  subject.report.incomplete_because = {"the file is cut off", "7 records were dropped"};
  const GateVerdict verdict = Judge(subject);
  CHECK(verdict.exit_code == 3);
  CHECK(ReasonsOf(verdict) == Texts{"incomplete: the file is cut off",
                                    "incomplete: 7 records were dropped",
                                    "unsafe-reuse: something is wrong"});
}

TEST_CASE("a trace without a graph is refused") {
  GateSubject subject = CleanSubject();
  subject.report.graphs[0].nodes = 0;
  CHECK(Judge(subject).exit_code == 3);
  subject.report.graphs.clear();
  CHECK(Judge(subject).exit_code == 3);
  CHECK(JudgeGate({}, {}, {}).exit_code == 3);
}

TEST_CASE("memory without a graph is judged where a limit is about it") {
  GateSubject snapshot = CleanSubject();
  snapshot.report.graphs.clear();
  snapshot.contents.clear();
  snapshot.peak_in_use_bytes = 9 * kMiB;
  snapshot.idle_bytes = 2 * kMiB;
  CHECK(Judge(snapshot).exit_code == 3);
  CHECK(Judge(snapshot, {.limits = {{"max-peak", 9 * kMiB}, {"max-idle", 2 * kMiB}}}).passed());
  CHECK(ReasonsOf(Judge(snapshot, {.limits = {{"max-peak", 8 * kMiB}, {"max-idle", kMiB}}})) ==
        Texts{"max-peak: 9 MiB in use at the peak, limit 8 MiB",
              "max-idle: 2 MiB reserved and idle at the end, limit 1 MiB"});
}

TEST_CASE("too little coverage fails, and coverage that isn't known refuses") {
  GateSubject subject = CleanSubject();
  subject.coverage = 0.8496;
  CHECK(Judge(subject, {.limits = {{"min-coverage", 0.84}}}).passed());
  const GateVerdict verdict = Judge(subject, {.limits = {{"min-coverage", 0.9}}});
  CHECK(verdict.exit_code == 1);
  CHECK(ReasonsOf(verdict) ==
        Texts{"min-coverage: 84.9% of kernel launches run in graphs, at least 90.0% asked for"});
  subject.coverage.reset();
  subject.unknown_coverage = "work outside of graphs wasn't recorded: record with --scope all";
  CHECK(Judge(subject).passed());
  const GateVerdict blind = Judge(subject, {.limits = {{"min-coverage", 0}}});
  CHECK(blind.exit_code == 3);
  CHECK(ReasonsOf(blind) == Texts{"min-coverage: work outside of graphs wasn't recorded: record "
                                  "with --scope all"});
}

TEST_CASE("idle memory that isn't known refuses") {
  GateSubject subject = CleanSubject();
  subject.idle_bytes.reset();
  const GateVerdict verdict = Judge(subject, {.limits = {{"max-idle", 0}}});
  CHECK(verdict.exit_code == 3);
  CHECK(ReasonsOf(verdict) == Texts{"max-idle: idle bytes at the end can't be judged, they are "
                                    "unknown: no memory was recorded"});
}

TEST_CASE("the upper end of what executables may take is held against the limit") {
  GateSubject subject = CleanSubject();
  CHECK(Judge(subject, {.limits = {{"max-exec-bytes", 0}}}).passed());  // nothing was instantiated
  const ExecPeak peak = {.bytes = {kMiB, 2 * kMiB, 3 * kMiB}, .execs = 2, .at = 7};
  subject.report.execs = ExecMemory{.peak = peak, .source = ExecSource::kEstimated};
  subject.report.graphs[0].exec_peak = peak;
  CHECK(Judge(subject, {.limits = {{"max-exec-bytes", 3 * kMiB}}}).passed());
  const GateVerdict verdict = Judge(subject, {.limits = {{"max-exec-bytes", 2 * kMiB}}});
  CHECK(verdict.exit_code == 1);
  const std::string graph = "graph " + std::to_string(subject.report.graphs[0].graph.value) +
                            (subject.report.graphs[0].name.empty() ? "" : " ") +
                            subject.report.graphs[0].name;
  CHECK(ReasonsOf(verdict) ==
        Texts{"max-exec-bytes: 3 MiB taken by 2 executables at once (estimated 1 MiB to 3 MiB; the "
              "largest: " +
              graph + " 3 MiB), limit 2 MiB"});
  subject.report.execs.reset();
  subject.report.device = DeviceKind::kImported;
  CHECK(ReasonsOf(Judge(subject, {.limits = {{"max-exec-bytes", kMiB}}})) ==
        Texts{"max-exec-bytes: bytes of executables can't be judged, they are unknown: the file "
              "doesn't say what was instantiated"});
}

TEST_CASE("a suppression holds for what it names, until it expires") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "block-leak", Severity::kError, 512, {{"_Z4stepv", "src/step.cu", 42}});
  GateConfig config;
  config.today = {2026, 3, 31};
  Suppression suppression{.check = "block-leak", .reason = "known"};
  const auto judge = [&] {
    config.suppressions = {suppression};
    return Judge(subject, config);
  };
  CHECK(judge().findings[0].suppression_reason == "known");
  CHECK(judge().passed());

  suppression.source = "step.cu:42";
  CHECK(judge().passed());
  suppression.source = "step.cu:4";
  CHECK(judge().exit_code == 1);
  suppression.source = "step.cu:43";
  CHECK(judge().exit_code == 1);
  CHECK(judge().notes ==
        Texts{"the suppression of block-leak (known) suppresses nothing; remove it"});

  suppression = {.check = "block-leak", .reason = "known", .graph = "step"};
  CHECK(judge().passed());
  suppression.graph = "other";
  CHECK(judge().exit_code == 1);

  suppression = {.check = "block-leak", .reason = "known", .trace = "trace.json"};
  CHECK(judge().passed());
  suppression.trace = "rank1.json";
  CHECK(judge().exit_code == 1);

  suppression = {.check = "block-leak", .reason = "known", .expires = Date{2026, 3, 31}};
  CHECK(judge().passed());
  suppression.expires = Date{2026, 3, 30};
  CHECK(judge().exit_code == 1);
  CHECK(judge().notes == Texts{"the suppression of block-leak (known) expired on 2026-03-30"});
}

TEST_CASE("an exec, a graph or memory that leaks and didn't in the baseline fails") {
  const GateConfig errors{.fail_on_severity = Severity::kError};
  GateSubject before = CleanSubject();
  AddFinding(before, "exec-leak", Severity::kWarning);
  before.leaks = {2};
  const Baseline baseline = BaselineOf(before);
  CHECK(Judge(before, errors).passed());  // of itself a leak is a warning
  CHECK(Judge(before, errors, baseline).passed());

  GateSubject after = before;
  after.leaks = {3};
  const GateVerdict more = Judge(after, errors, baseline);
  CHECK(ReasonsOf(more) ==
        Texts{"exec-leak: something is wrong; the baseline doesn't have that leak"});
  CHECK(Judge(after, {.fail_on_severity = Severity::kError, .allow_increase = 0.5}, baseline)
            .passed());
  CHECK(Judge(after, {.fail_on_severity = {}}, baseline).passed());
  after.leaks = {1};
  CHECK(Judge(after, errors, baseline).passed());

  for (const char* check : {"graph-leak", "block-leak", "graph-allocation-leak"}) {
    after = before;
    AddFinding(after, check, Severity::kWarning, 512);
    after.leaks.push_back(1);
    CHECK(Judge(after, errors, baseline).exit_code == 1);
    after.report.findings[1].severity = Severity::kNote;
    CHECK(Judge(after, errors, baseline).passed());
  }
  after = before;
  AddFinding(after, "late-free", Severity::kWarning);
  CHECK(Judge(after, errors, baseline).passed());
}

TEST_CASE("each exec that leaked counts as one") {
  GateSubject subject = CleanSubject();
  AddFinding(subject, "exec-leak", Severity::kWarning);
  subject.leaks = {3};
  GateConfig config{.fail_on_severity = Severity::kError, .limits = {{"max-leaks", 3}}};
  CHECK(Judge(subject, config).passed());
  config.limits["max-leaks"] = 2;
  CHECK(ReasonsOf(Judge(subject, config)) == Texts{"max-leaks: 3 leaks, limit 2"});
}

TEST_CASE("ids that no check has are named once") {
  GateConfig config;
  config.fail_on_checks = {"late-free", "late-fre"};
  config.suppressions = {{.check = "late-fre", .reason = "x"}, {.check = "nothing", .reason = "x"}};
  const std::vector<GateCheck> known = {{.id = "late-free"}};
  CHECK(UnknownChecks(config, known) == Texts{"late-fre", "nothing"});
}

}  // namespace
}  // namespace graphkit
