#include "libgraphkit/compare/gate.h"

#include "libgraphkit/analysis/launches/collectives.h"
#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/match_graphs.h"
#include "libgraphkit/compare/peak_lines.h"

namespace graphkit {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kRefused = 3;

// Memory without graphs, as of a snapshot, is judged where a limit is about it.
bool HoldsLimitedMemory(const GateSubject& subject, const GateConfig& config) {
  const bool limited = config.limits.contains("max-peak") || config.limits.contains("max-idle");
  return limited && subject.peak_in_use_bytes;
}

void RefuseWhatIsMissing(const std::vector<GateSubject>& subjects, const GateConfig& config,
                         GateVerdict& verdict) {
  const auto refuse = [&verdict](uint32_t trace, std::string text) {
    verdict.reasons.push_back({GateReason::Kind::kBlind, trace, std::move(text)});
  };
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    const Report& report = subjects[trace].report;
    for (const std::string& reason : report.incomplete_because) {
      refuse(trace, "incomplete: " + reason);
    }
    if (!report.complete && report.incomplete_because.empty()) {
      refuse(trace, "incomplete: the trace doesn't hold all that happened");
    }
    const auto empty = [](const GraphSummary& graph) { return graph.nodes == 0; };
    const bool judged = report.graphs.empty() && HoldsLimitedMemory(subjects[trace], config);
    if (std::ranges::all_of(report.graphs, empty) && !judged) {
      const bool memory = subjects[trace].peak_in_use_bytes.has_value();
      refuse(trace,
             std::string("cannot check: the trace contains no graph") +
                 (memory ? "; its memory is checked by --limit max-peak=SIZE,max-idle=SIZE" : ""));
    }
  }
  if (subjects.empty()) {
    verdict.reasons.push_back({GateReason::Kind::kBlind, {}, "no trace was given"});
  }
}

int ExitCode(const GateVerdict& verdict) {
  const auto blind = [](const GateReason& reason) {
    return reason.kind == GateReason::Kind::kBlind;
  };
  if (std::ranges::any_of(verdict.reasons, blind)) return kRefused;
  return verdict.reasons.empty() ? kPassed : kFailed;
}

// True if a check looks for things that are never given back.
bool IsLeakCheck(std::string_view check) { return check.ends_with("-leak"); }

// Of each finding: how many things leaked.
std::vector<uint64_t> LeaksOf(const std::vector<Finding>& findings, const Ran& trace) {
  std::vector<uint64_t> execs(trace.graphs.size());
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid() && exec.destroyed == kNever) ++execs[exec.graph.index()];
  }
  std::vector<uint64_t> leaks;
  for (const Finding& finding : findings) {
    const bool of_execs = finding.check == "exec-leak" && finding.graph.index() < execs.size();
    const uint64_t things = of_execs ? execs[finding.graph.index()] : finding.blocks.size();
    leaks.push_back(IsLeakCheck(finding.check) ? std::max<uint64_t>(1, things) : 0);
  }
  return leaks;
}

constexpr const char* kNewLeak = "; the baseline doesn't have that leak";

bool AnyFrameHas(const Finding& finding, std::string_view text) {
  const auto has = [text](const PlaceFrame& frame) {
    const std::string line = frame.file + ":" + std::to_string(frame.line) + " " + frame.function;
    const size_t at = line.find(text);
    if (at == std::string::npos) return false;
    // "step.cu:4" isn't a part of "step.cu:42".
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !digit(text.back()) || !digit((line + " ")[at + text.size()]);
  };
  return std::ranges::any_of(finding.places, [&](const FindingPlace& place) {
    return has(place.line) || std::ranges::any_of(place.frames, has);
  });
}

std::string_view GraphName(const Report& report, GraphId id) {
  const auto found = std::ranges::find(report.graphs, id, &GraphSummary::graph);
  return found == report.graphs.end() ? std::string_view() : std::string_view(found->name);
}

bool Covers(const Suppression& suppression, const GateSubject& subject, size_t index) {
  const Finding& finding = subject.report.findings[index];
  if (suppression.check != finding.check) return false;
  if (!suppression.trace.empty() && suppression.trace != FileName(subject.trace)) return false;
  if (!suppression.graph.empty() && suppression.graph != GraphName(subject.report, finding.graph)) {
    return false;
  }
  return suppression.source.empty() || AnyFrameHas(finding, suppression.source);
}

bool Expired(const Suppression& suppression, const GateConfig& config) {
  return suppression.expires && *suppression.expires < config.today;
}

// How much of a finding the baseline still has room for.
struct Allowance {
  uint64_t count = 0;
  double bytes = 0;
  double leaks = 0;
  bool knows_leaks = false;  // otherwise any number will do
};

using Allowances = std::map<FindingKey, Allowance>;

Allowances AllowancesOf(const BaselineTrace* trace, double increase) {
  Allowances allowances;
  if (trace == nullptr) return allowances;
  for (const BaselineFinding& finding : trace->findings) {
    Allowance& allowance = allowances[{finding.graph, finding.fingerprint}];
    allowance.count += finding.count;
    allowance.bytes += static_cast<double>(finding.bytes) * (1 + increase);
    allowance.leaks += static_cast<double>(finding.leaks) * (1 + increase);
    allowance.knows_leaks = finding.leaks > 0;
  }
  return allowances;
}

// Takes one finding's worth; false when there is no room.
bool TakeFrom(Allowances& allowances, const FindingKey& key, Bytes bytes, uint64_t leaks) {
  const auto found = allowances.find(key);
  if (found == allowances.end() || found->second.count == 0) return false;
  if (static_cast<double>(bytes) > found->second.bytes) return false;
  if (found->second.knows_leaks && static_cast<double>(leaks) > found->second.leaks) return false;
  found->second.count -= 1;
  found->second.leaks -= static_cast<double>(leaks);
  found->second.bytes -= static_cast<double>(bytes);
  return true;
}

bool AskedFor(const Finding& finding, const GateConfig& config) {
  if (config.fail_on_severity && finding.severity >= *config.fail_on_severity) return true;
  return std::ranges::find(config.fail_on_checks, finding.check) != config.fail_on_checks.end();
}

// The purpose of a leak check: whatever else fails the gate, an exec, a graph or memory
// that leaks and didn't before does, unless no finding is to fail.
bool NewLeak(const GateSubject& subject, size_t finding, const GateConfig& config) {
  const bool none = !config.fail_on_severity && config.fail_on_checks.empty();
  return !none && LeakedBy(subject, finding) > 0;
}

struct Judge {
  const std::vector<GateSubject>& subjects;
  const GateConfig& config;
  // The suppressions that suppressed something.
  std::vector<bool> used = std::vector<bool>(config.suppressions.size());

  // `compared`: there is a baseline of the trace.
  JudgedFinding One(uint32_t trace, uint32_t index, const FindingKey& key, bool compared,
                    Allowances& allowances) {
    const GateSubject& subject = subjects[trace];
    const Finding& finding = subject.report.findings[index];
    JudgedFinding judged{.trace = trace, .finding = index};
    judged.fingerprint = key.fingerprint;
    if (const Suppression* suppression = SuppressionOf(subject, index)) {
      judged.status = FindingStatus::kSuppressed;
      judged.suppression_reason = suppression->reason;
    } else if (TakeFrom(allowances, key, finding.bytes, LeakedBy(subject, index))) {
      judged.status = FindingStatus::kKnown;
    } else if (AskedFor(finding, config) || (compared && NewLeak(subject, index, config))) {
      judged.status = FindingStatus::kFails;
    }
    return judged;
  }

  void AddNotes(std::vector<std::string>& notes) const {
    for (size_t i = 0; i < used.size(); ++i) {
      const Suppression& suppression = config.suppressions[i];
      const std::string what =
          "the suppression of " + suppression.check + " (" + suppression.reason + ") ";
      if (Expired(suppression, config)) {
        notes.push_back(what + "expired on " + FormatDate(*suppression.expires));
      } else if (!used[i]) {
        notes.push_back(what + "suppresses nothing; remove it");
      }
    }
  }

  const Suppression* SuppressionOf(const GateSubject& subject, size_t index) {
    for (size_t i = 0; i < used.size(); ++i) {
      const Suppression& suppression = config.suppressions[i];
      if (Expired(suppression, config) || !Covers(suppression, subject, index)) continue;
      used[i] = true;
      return &suppression;
    }
    return nullptr;
  }
};

const Finding& FoundIn(const std::vector<GateSubject>& subjects, const JudgedFinding& judged) {
  return subjects[judged.trace].report.findings[judged.finding];
}

// Puts the findings in the order of all views, and in groups.
void Group(const std::vector<GateSubject>& subjects, GateVerdict& verdict) {
  std::ranges::stable_sort(verdict.findings, [&](const JudgedFinding& a, const JudgedFinding& b) {
    if (a.status != b.status) return a.status < b.status;
    return ComesFirst(FoundIn(subjects, a), FoundIn(subjects, b));
  });
  std::vector<const Finding*> findings;
  std::vector<uint32_t> statuses;
  for (const JudgedFinding& judged : verdict.findings) {
    findings.push_back(&FoundIn(subjects, judged));
    statuses.push_back(static_cast<uint32_t>(judged.status));
  }
  verdict.groups = GroupFindings(findings, statuses);
}

// A reason for each row that fails.
void AddReasons(const std::vector<GateSubject>& subjects, const GateConfig& config,
                GateVerdict& verdict) {
  for (const FindingGroup& group : verdict.groups) {
    for (const FindingRow& row : group.rows) {
      const JudgedFinding& judged = verdict.findings[row.findings.front()];
      if (judged.status != FindingStatus::kFails) continue;
      const Finding& finding = FoundIn(subjects, judged);
      verdict.reasons.push_back({GateReason::Kind::kFinding, judged.trace,
                                 finding.check + ": " + finding.message + Times(row.count()) +
                                     (AskedFor(finding, config) ? "" : kNewLeak)});
    }
  }
}

// Fills verdict.findings, and adds the reasons of those that fail and notes on suppressions that
// don't hold or suppress nothing. `known` has an entry for each subject.
void JudgeFindings(const std::vector<GateSubject>& subjects, const GateConfig& config,
                   const std::vector<BaselineMatch>& known, GateVerdict& verdict) {
  Judge judge{subjects, config};
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    const GateSubject& subject = subjects[trace];
    Allowances allowances = AllowancesOf(known[trace].trace, config.allow_increase);
    const std::vector<FindingKey> keys = FindingKeys(subject, known[trace]);
    const bool compared = known[trace].trace != nullptr;
    for (uint32_t i = 0; i < subject.report.findings.size(); ++i) {
      verdict.findings.push_back(judge.One(trace, i, keys[i], compared, allowances));
    }
  }
  Group(subjects, verdict);
  AddReasons(subjects, config, verdict);
  judge.AddNotes(verdict.notes);
}

}  // namespace

GateVerdict JudgeGate(const std::vector<GateSubject>& subjects, const GateConfig& config,
                      const std::optional<Baseline>& baseline) {
  GateVerdict verdict;
  const Baseline none;
  const std::vector<BaselineMatch> matches = MatchBaseline(baseline ? *baseline : none, subjects);
  RefuseWhatIsMissing(subjects, config, verdict);
  JudgeFindings(subjects, config, matches, verdict);
  JudgeBudgets(subjects, config, verdict);
  Group(subjects, verdict);  // too many leaks fail
  if (baseline) JudgeAgainstBaseline(subjects, config, *baseline, matches, verdict);
  RefuseUnknown(subjects, verdict);
  // Reasons that blind the gate come first.
  std::ranges::stable_sort(verdict.reasons, {}, [](const GateReason& reason) {
    return reason.kind != GateReason::Kind::kBlind;
  });
  verdict.exit_code = ExitCode(verdict);
  return verdict;
}

std::vector<std::string> UnknownChecks(const GateConfig& config, std::span<const GateCheck> known) {
  std::vector<std::string> named = config.fail_on_checks;
  for (const Suppression& suppression : config.suppressions) named.push_back(suppression.check);
  std::vector<std::string> unknown;
  for (const std::string& id : named) {
    if (std::ranges::find(known, id, &GateCheck::id) != known.end()) continue;
    if (std::ranges::find(unknown, id) == unknown.end()) unknown.push_back(id);
  }
  return unknown;
}

uint64_t LeakedBy(const GateSubject& subject, size_t finding) {
  const Finding& found = subject.report.findings[finding];
  if (!IsLeakCheck(found.check) || found.severity == Severity::kNote) return 0;
  if (finding < subject.leaks.size()) return subject.leaks[finding];
  return std::max<uint64_t>(1, found.blocks.size());
}

GateSubject MakeGateSubject(std::string trace_file, const Facts& facts, Report report) {
  const Ran& trace = facts.trace;
  GateSubject subject;
  subject.trace = std::move(trace_file);
  subject.leaks = LeaksOf(report.findings, trace);
  if (!report.graphs.empty()) {
    const std::vector<GraphView> views = ViewGraphs(trace);
    for (const GraphSummary& graph : report.graphs) {
      subject.contents.push_back(ContentOf(views[graph.graph.index()]));
    }
  }
  for (const GraphSummary& graph : report.graphs) {
    subject.peak_lines.push_back(PeakLines(trace, graph));
  }
  for (GraphSummary& graph : report.graphs) graph.reuse.clear();  // many, of no use here
  subject.report = std::move(report);
  subject.collectives = facts.collectives();
  if (trace.process.unknown_memory.empty()) {
    const MemoryMoments& moments = facts.timeline().all();
    subject.peak_reserved_bytes = moments.peak_reserved.reserved;
    subject.peak_outside_graphs_bytes = moments.peak_outside_graphs;
    subject.peak_allocated_bytes = moments.peak_allocated.allocated;
    subject.idle_bytes = moments.end.idle();
    if (moments.peak_in_use.in_use > 0) subject.peak_in_use_bytes = moments.peak_in_use.in_use;
  }
  const Coverage coverage = FindCoverage(facts);
  if (coverage.unknown.empty()) subject.coverage = coverage.share.kernels();
  subject.unknown_coverage = coverage.unknown;
  return subject;
}

void AddRankDifferences(std::vector<GateSubject>& subjects,
                        const std::vector<std::string>& checks) {
  if (subjects.size() < 2) return;
  std::vector<RankTrace> traces;
  for (const GateSubject& subject : subjects) {
    traces.push_back({subject.trace, &subject.collectives, subject.report.complete});
  }
  for (RankDifference& found : CompareCollectives(traces)) {
    const bool asked =
        checks.empty() || std::ranges::find(checks, found.finding.check) != checks.end();
    if (!asked) continue;
    GateSubject& subject = subjects[found.trace];
    ++subject.report.totals.findings[static_cast<size_t>(found.finding.severity)];
    std::vector<Finding>& findings = subject.report.findings;
    const auto at = std::ranges::upper_bound(findings, found.finding, ComesFirst);
    subject.leaks.insert(subject.leaks.begin() + (at - findings.begin()), 0);
    findings.insert(at, std::move(found.finding));
    subject.report.groups = GroupFindings(findings);
  }
}

}  // namespace graphkit
