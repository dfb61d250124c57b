#include <algorithm>
#include <map>
#include <string>

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/judge.h"

namespace graphkit {

namespace {

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

class Judge {
 public:
  Judge(const std::vector<GateSubject>& subjects, const GateConfig& config)
      : subjects_(subjects), config_(config), used_(config.suppressions.size(), false) {}

  // `compared`: there is a baseline of the trace.
  JudgedFinding One(uint32_t trace, uint32_t index, const FindingKey& key, bool compared,
                    Allowances& allowances) {
    const GateSubject& subject = subjects_[trace];
    const Finding& finding = subject.report.findings[index];
    JudgedFinding judged{.trace = trace, .finding = index};
    judged.fingerprint = key.fingerprint;
    if (const Suppression* suppression = SuppressionOf(subject, index)) {
      judged.status = FindingStatus::kSuppressed;
      judged.suppression_reason = suppression->reason;
    } else if (TakeFrom(allowances, key, finding.bytes, LeakedBy(subject, index))) {
      judged.status = FindingStatus::kKnown;
    } else if (AskedFor(finding, config_) || (compared && NewLeak(subject, index, config_))) {
      judged.status = FindingStatus::kFails;
    }
    return judged;
  }

  void AddNotes(std::vector<std::string>& notes) const {
    for (size_t i = 0; i < used_.size(); ++i) {
      const Suppression& suppression = config_.suppressions[i];
      const std::string what =
          "the suppression of " + suppression.check + " (" + suppression.reason + ") ";
      if (Expired(suppression, config_)) {
        notes.push_back(what + "expired on " + FormatDate(*suppression.expires));
      } else if (!used_[i]) {
        notes.push_back(what + "suppresses nothing; remove it");
      }
    }
  }

 private:
  const Suppression* SuppressionOf(const GateSubject& subject, size_t index) {
    for (size_t i = 0; i < used_.size(); ++i) {
      const Suppression& suppression = config_.suppressions[i];
      if (Expired(suppression, config_) || !Covers(suppression, subject, index)) continue;
      used_[i] = true;
      return &suppression;
    }
    return nullptr;
  }

  const std::vector<GateSubject>& subjects_;
  const GateConfig& config_;
  std::vector<bool> used_;  // the suppressions that suppressed something
};

}  // namespace

void JudgeFindings(const std::vector<GateSubject>& subjects, const GateConfig& config,
                   const std::vector<BaselineMatch>& known, GateVerdict& verdict) {
  Judge judge(subjects, config);
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

}  // namespace graphkit
