#include "libgraphkit/render/json.h"
#include "libgraphkit/checked_number.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

GRAPHKIT_JSON_OF(PlaceFrame, function, file, line)

namespace {

Json SubjectJson(const GateSubject& subject) {
  Json json{{"trace", subject.trace}};
  GRAPHKIT_ADD_MEMBERS(json, subject.report, device, complete);
  GRAPHKIT_ADD_MEMBERS(json, subject.report.totals, graphs, nodes, blocks);
  GRAPHKIT_ADD_MEMBERS(json, subject, peak_reserved_bytes, peak_allocated_bytes);
  return json;
}

Json ReasonJson(const GateRun& run, const GateReason& reason) {
  return Json{{"kind", reason.kind},
              {"trace", reason.trace ? Json(run.subjects[*reason.trace].trace) : Json(nullptr)},
              {"text", reason.text}};
}

Json ValueJson(std::optional<double> value, MeasureUnit unit) {
  const bool fraction = unit == MeasureUnit::kRatio || unit == MeasureUnit::kShare;
  return !value || fraction ? Json(value) : Json(SaturateWhole(*value));
}

Json MeasureJson(const GateRun& run, const GateMeasure& measure) {
  return Json{{"rule", measure.rule},
              {"trace", run.subjects[measure.trace].trace},
              {"subject", measure.subject},
              {"unit", measure.unit},
              {"value", ValueJson(measure.value, measure.unit)},
              {"limit", ValueJson(measure.limit, measure.unit)},
              {"passed", measure.passed}};
}

Json JudgedFindingJson(const GateRun& run, const JudgedFinding& judged) {
  const Finding& finding = run.subjects[judged.trace].report.findings[judged.finding];
  Json json{{"check", finding.check}, {"severity", finding.severity}, {"status", judged.status}};
  GRAPHKIT_ADD_MEMBERS(json, finding, message, advice, bytes);
  json["trace"] = run.subjects[judged.trace].trace;
  GRAPHKIT_ADD_MEMBERS(json, finding, graph, nodes, blocks, streams, assumes);
  json["fingerprint"] = judged.fingerprint;
  json["place"] = finding.logical;
  AddPlaces(finding, json);
  json["stack"] = finding.places.empty() ? Json::array() : Json(finding.places[0].frames);
  if (judged.status == FindingStatus::kSuppressed) json["suppressed"] = judged.suppression_reason;
  return json;
}

}  // namespace

void RenderCheckJson(const GateRun& run, std::ostream& out) {
  const GateVerdict& verdict = run.verdict;
  WriteDocument(
      "graphkit-check",
      Json{
          {"passed", verdict.passed()},
          {"exit_code", verdict.exit_code},
          {"reasons", ListJson(verdict.reasons, [&](const auto& r) { return ReasonJson(run, r); })},
          {"traces", ListJson(run.subjects, SubjectJson)},
          {"measures",
           ListJson(verdict.measures, [&](const auto& m) { return MeasureJson(run, m); })},
          {"findings",
           ListJson(verdict.findings, [&](const auto& f) { return JudgedFindingJson(run, f); })},
          {"groups", GroupsJson(verdict.groups)},
          {"notes", verdict.notes}},
      out);
}

}  // namespace graphkit
