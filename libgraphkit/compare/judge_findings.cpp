#include "libgraphkit/compare/judge_findings.h"

#include <algorithm>
#include <map>
#include <string>

namespace graphkit {

namespace {

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
};

using Allowances = std::map<FindingKey, Allowance>;

Allowances AllowancesOf(const BaselineTrace* trace, double increase) {
  Allowances allowances;
  if (trace == nullptr) return allowances;
  for (const BaselineFinding& finding : trace->findings) {
    Allowance& allowance = allowances[{finding.graph, finding.fingerprint}];
    allowance.count += finding.count;
    allowance.bytes += static_cast<double>(finding.bytes) * (1 + increase);
  }
  return allowances;
}

// Takes one finding's worth; false when there is no room.
bool TakeFrom(Allowances& allowances, const FindingKey& key, Bytes bytes) {
  const auto found = allowances.find(key);
  if (found == allowances.end() || found->second.count == 0) return false;
  if (static_cast<double>(bytes) > found->second.bytes) return false;
  found->second.count -= 1;
  found->second.bytes -= static_cast<double>(bytes);
  return true;
}

bool AskedFor(const Finding& finding, const GateConfig& config) {
  if (config.fail_on_severity && finding.severity >= *config.fail_on_severity) return true;
  return std::ranges::find(config.fail_on_checks, finding.check) != config.fail_on_checks.end();
}

class Judge {
 public:
  Judge(const std::vector<GateSubject>& subjects, const GateConfig& config)
      : subjects_(subjects), config_(config), used_(config.suppressions.size(), false) {}

  JudgedFinding One(uint32_t trace, uint32_t index, const FindingKey& key, Allowances& allowances) {
    const GateSubject& subject = subjects_[trace];
    const Finding& finding = subject.report.findings[index];
    JudgedFinding judged{.trace = trace, .finding = index};
    judged.fingerprint = key.fingerprint;
    if (const Suppression* suppression = SuppressionOf(subject, index)) {
      judged.status = FindingStatus::kSuppressed;
      judged.suppression_reason = suppression->reason;
    } else if (TakeFrom(allowances, key, finding.bytes)) {
      judged.status = FindingStatus::kKnown;
    } else if (AskedFor(finding, config_)) {
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
    for (uint32_t i = 0; i < subject.report.findings.size(); ++i) {
      JudgedFinding judged = judge.One(trace, i, keys[i], allowances);
      const Finding& finding = subject.report.findings[i];
      if (judged.status == FindingStatus::kFails) {
        verdict.reasons.push_back(
            {GateReason::Kind::kFinding, trace, finding.check + ": " + finding.message});
      }
      verdict.findings.push_back(std::move(judged));
    }
  }
  judge.AddNotes(verdict.notes);
}

}  // namespace graphkit
