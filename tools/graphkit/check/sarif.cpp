#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

namespace {

Json TextJson(std::string_view text) { return Json{{"text", Printable(text)}}; }

// SARIF 2.1.0 §3.4: a relative URI says what it is relative to.
Json ArtifactJson(std::string_view file, std::string_view root) {
  const std::string_view path = RelativeTo(root, file);
  if (path.starts_with('/')) return Json{{"uri", "file://" + PathUri(path)}};
  return Json{{"uri", PathUri(path)}, {"uriBaseId", "%SRCROOT%"}};
}

// `logical` is a place in a trace, or a function; may be empty.
Json LocationJson(const PlaceFrame& frame, const std::string& logical, std::string_view root) {
  Json json = Json::object();
  if (!frame.file.empty()) {
    json["physicalLocation"]["artifactLocation"] = ArtifactJson(frame.file, root);
    if (frame.line != 0) json["physicalLocation"]["region"] = {{"startLine", frame.line}};
  }
  if (!logical.empty()) {
    json["logicalLocations"] = Json::array({Json{{"fullyQualifiedName", logical}}});
  }
  return json;
}

Json LocationsJson(const GateRun& run, std::optional<uint32_t> trace, const PlaceFrame& line,
                   const std::string& logical) {
  const std::string name = trace ? run.subjects[*trace].trace + "/" + logical : "";
  return Json::array({LocationJson(ShownAt(run, trace, line), Printable(name), run.source_root)});
}

Json StackJson(const std::vector<PlaceFrame>& stack, std::string_view root) {
  Json frames = Json::array();
  for (const PlaceFrame& frame : stack) {
    frames.push_back(Json{{"location", LocationJson(frame, Demangle(frame.function), root)}});
  }
  return Json{{"frames", std::move(frames)}};
}

// The stack of the first place, and the other places.
void AddOthers(const Finding& finding, std::string_view root, Json& json) {
  if (finding.places.empty()) return;
  const std::vector<PlaceFrame>& stack = finding.places[0].frames;
  if (!stack.empty()) json["stacks"] = Json::array({StackJson(stack, root)});
  for (size_t i = 1; i < finding.places.size(); ++i) {
    Json other = LocationJson(finding.places[i].line, "", root);
    other["id"] = i;
    other["message"] = TextJson(finding.places[i].about);
    json["relatedLocations"].push_back(std::move(other));
  }
}

std::vector<CheckRow> AllRows(const GateRun& run) {
  using enum FindingStatus;
  return RowsOf(run, {kFails, kReported, kKnown, kSuppressed});
}

// The rules, in the order of the output: the checks, then budgets and the baseline.
class Rules {
 public:
  explicit Rules(const GateRun& run) {
    for (const GateCheck& check : run.checks) Add(check.id, check.summary);
    for (const CheckRow& row : AllRows(run)) Add(row.finding.check, "");
    for (const GateReason& reason : run.verdict.reasons) {
      if (IsFigure(reason)) Add(RuleOf(reason), "A figure is beyond its limit.");
    }
    for (const CheckRow& row : AllRows(run)) AddHelp(run, row.finding.check);
  }

  size_t IndexOf(const std::string& id) const { return indices_.at(id); }
  const Json& json() const { return json_; }

 private:
  void Add(const std::string& id, const std::string& summary) {
    if (!indices_.emplace(id, json_.size()).second) return;
    Json rule{{"id", id}};
    if (!summary.empty()) rule["shortDescription"] = TextJson(summary);
    json_.push_back(std::move(rule));
  }

  // The page of a check that found something, for who reads its results where graphkit isn't.
  void AddHelp(const GateRun& run, const std::string& id) {
    const auto check = std::ranges::find(run.checks, id, &GateCheck::id);
    if (check == run.checks.end() || check->page.empty()) return;
    json_[IndexOf(id)]["help"] = {{"text", check->page}, {"markdown", check->page}};
  }

  std::map<std::string, size_t> indices_;
  Json json_ = Json::array();
};

bool HasBaseline(const GateRun& run) {
  return std::ranges::any_of(run.verdict.measures, [](const GateMeasure& measure) {
    return measure.rule.starts_with("baseline");
  });
}

Json FindingResult(const GateRun& run, const CheckRow& row, const Rules& rules, uint32_t ordinal) {
  const Finding& finding = row.finding;
  const JudgedFinding& judged = row.judged;
  Json json{{"ruleId", finding.check},
            {"ruleIndex", rules.IndexOf(finding.check)},
            {"level", SeverityName(finding.severity)},
            {"message", TextJson(Said(run, row))},
            {"occurrenceCount", row.row.count()},
            {"locations", LocationsJson(run, judged.trace, finding.line(), finding.logical)}};
  AddOthers(finding, run.source_root, json);
  json["partialFingerprints"] = {
      {"graphkitFinding/v1", judged.fingerprint + ":" + std::to_string(ordinal)}};
  if (judged.status == FindingStatus::kSuppressed) {
    json["suppressions"] = Json::array(
        {Json{{"kind", "external"}, {"justification", Printable(judged.suppression_reason)}}});
  }
  if (HasBaseline(run)) {
    json["baselineState"] = judged.status == FindingStatus::kKnown ? "unchanged" : "new";
  }
  json["properties"] = {{"status", judged.status}, {"bytes", finding.bytes}};
  return json;
}

Json ReasonResult(const GateRun& run, const GateReason& reason, const Rules& rules) {
  const std::string rule = RuleOf(reason);
  return Json{{"ruleId", rule},
              {"ruleIndex", rules.IndexOf(rule)},
              {"level", "error"},
              {"message", TextJson(reason.text)},
              {"locations", LocationsJson(run, reason.trace, {}, "trace")}};
}

Json ResultsJson(const GateRun& run, const Rules& rules) {
  Json results = Json::array();
  std::map<std::string, uint32_t> ordinals;
  for (const CheckRow& row : AllRows(run)) {
    results.push_back(FindingResult(run, row, rules, ordinals[row.judged.fingerprint]++));
  }
  for (const GateReason& reason : run.verdict.reasons) {
    if (IsFigure(reason)) results.push_back(ReasonResult(run, reason, rules));
  }
  return results;
}

Json NotificationJson(const char* level, std::string_view text) {
  return Json{{"level", level}, {"message", TextJson(text)}};
}

Json InvocationJson(const GateRun& run) {
  Json notifications = Json::array();
  for (const GateReason& reason : run.verdict.reasons) {
    if (reason.kind != GateReason::Kind::kBlind) continue;
    notifications.push_back(
        NotificationJson("error", ReasonSubject(run, reason) + ": " + reason.text));
  }
  for (const std::string& note : run.verdict.notes) {
    notifications.push_back(NotificationJson("note", note));
  }
  const int exit_code = run.verdict.exit_code;
  return Json{{"executionSuccessful", exit_code == 0 || exit_code == 1},
              {"exitCode", exit_code},
              {"exitCodeDescription", Outcome(run.verdict)},
              {"toolExecutionNotifications", std::move(notifications)}};
}

}  // namespace

void RenderSarif(const GateRun& run, std::string_view version, std::ostream& out) {
  const Rules rules(run);
  const Json driver = {{"name", "graphkit"}, {"version", version}, {"rules", rules.json()}};
  const Json root = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({Json{{"tool", {{"driver", driver}}},
                                                {"invocations", Json::array({InvocationJson(run)})},
                                                {"columnKind", "unicodeCodePoints"},
                                                {"results", ResultsJson(run, rules)}}})}};
  out << Dump(root, 2) << "\n";
}

}  // namespace graphkit
