#include "libgraphkit/compare/gate.h"

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/compare/match_graphs.h"

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

constexpr uint32_t kFramesKept = 32;

std::vector<PlaceFrame> FramesOf(const Trace& trace, StackId stack) {
  std::vector<PlaceFrame> frames;
  if (!stack) return frames;
  const Slice slice = trace.stacks[stack.index()].frames;
  bool inside = true;
  for (uint32_t i = 0; i < slice.count && frames.size() < kFramesKept; ++i) {
    const StackFrame& frame = trace.stack_frames[slice.first + i];
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    inside = inside && i + 1 < slice.count && IsCudaFrame(function, file);
    if (inside) continue;
    frames.push_back({std::string(function), std::string(file), frame.line});
  }
  return frames;
}

// The first stack that the finding or what it names has.
StackId StackOf(const Finding& finding, const Trace& trace) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.stack) return evidence.stack;
  }
  for (const BlockId block : finding.blocks) {
    if (trace[block].stack) return trace[block].stack;
  }
  for (const NodeId node : finding.nodes) {
    if (trace[node].stack) return trace[node].stack;
  }
  return {};
}

std::string LogicalName(const Finding& finding, const Trace& trace) {
  std::string name = "trace";
  if (finding.graph) {
    name = "graph " + std::to_string(finding.graph.value);
    const std::string_view text = trace[trace[finding.graph].name];
    if (!text.empty()) name += " " + std::string(text);
  }
  if (!finding.nodes.empty()) return name + "/node " + std::to_string(finding.nodes[0].value);
  if (!finding.blocks.empty()) return name + "/block " + std::to_string(finding.blocks[0].value);
  if (!finding.streams.empty()) return name + "/stream " + std::to_string(finding.streams[0].value);
  return name;
}

// True if a check looks for things that are never given back.
bool IsLeakCheck(std::string_view check) { return check.ends_with("-leak"); }

// Of each finding: how many things leaked.
std::vector<uint64_t> LeaksOf(const std::vector<Finding>& findings, const Trace& trace) {
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

bool AnyFrameHas(const FindingPlace& place, std::string_view text) {
  return std::ranges::any_of(place.frames, [text](const PlaceFrame& frame) {
    const std::string line = frame.file + ":" + std::to_string(frame.line) + " " + frame.function;
    return line.find(text) != std::string::npos;
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
  return suppression.source.empty() || AnyFrameHas(subject.places[index], suppression.source);
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
      JudgedFinding judged = judge.One(trace, i, keys[i], compared, allowances);
      const Finding& finding = subject.report.findings[i];
      if (judged.status == FindingStatus::kFails) {
        verdict.reasons.push_back(
            {GateReason::Kind::kFinding, trace,
             finding.check + ": " + finding.message + (AskedFor(finding, config) ? "" : kNewLeak)});
      }
      verdict.findings.push_back(std::move(judged));
    }
  }
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

FindingPlace PlaceOf(const Finding& finding, const Trace& trace) {
  return {.frames = FramesOf(trace, StackOf(finding, trace)),
          .logical = LogicalName(finding, trace)};
}

GateSubject MakeGateSubject(std::string trace_file, const Facts& facts, Report report) {
  const Trace& trace = facts.trace;
  GateSubject subject;
  subject.trace = std::move(trace_file);
  for (const Finding& finding : report.findings) subject.places.push_back(PlaceOf(finding, trace));
  subject.leaks = LeaksOf(report.findings, trace);
  if (!report.graphs.empty()) {
    const std::vector<GraphView> views = ViewGraphs(trace);
    for (const GraphSummary& graph : report.graphs) {
      subject.contents.push_back(ContentOf(views[graph.graph.index()]));
    }
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
    FindingPlace place{.logical = "trace"};
    if (found.place != PlaceFrame()) place.frames = {found.place};
    if (found.finding.graph) {
      place.logical = "graph " + std::to_string(found.finding.graph.value);
    }
    ++subject.report.totals.findings[static_cast<size_t>(found.finding.severity)];
    std::vector<Finding>& findings = subject.report.findings;
    const auto at = std::ranges::upper_bound(findings, found.finding, ComesFirst);
    const auto index = at - findings.begin();
    findings.insert(at, std::move(found.finding));
    subject.places.insert(subject.places.begin() + index, std::move(place));
    subject.leaks.insert(subject.leaks.begin() + index, 0);
  }
}

}  // namespace graphkit
