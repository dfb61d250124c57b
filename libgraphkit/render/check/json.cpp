#include <nlohmann/json.hpp>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/check/check.h"
#include "libgraphkit/render/check/names.h"
#include "libgraphkit/render/id_json.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

Json SubjectJson(const GateSubject& subject) {
  const ReportTotals& totals = subject.report.totals;
  return Json{{"trace", subject.trace},
              {"device", NameOf(subject.report.device)},
              {"complete", subject.report.complete},
              {"graphs", totals.graphs},
              {"nodes", totals.nodes},
              {"blocks", totals.blocks},
              {"peak_reserved_bytes", FigureJson(subject.peak_reserved_bytes)},
              {"peak_allocated_bytes", FigureJson(subject.peak_allocated_bytes)}};
}

Json ReasonJson(const GateRun& run, const GateReason& reason) {
  return Json{{"kind", ReasonKindName(reason.kind)},
              {"trace", reason.trace ? Json(run.subjects[*reason.trace].trace) : Json(nullptr)},
              {"text", reason.text}};
}

Json ValueJson(std::optional<double> value, MeasureUnit unit) {
  if (!value || unit == MeasureUnit::kRatio) return FigureJson(value);
  return Json(SaturateWhole(*value));
}

Json MeasureJson(const GateRun& run, const GateMeasure& measure) {
  return Json{{"rule", measure.rule},
              {"trace", run.subjects[measure.trace].trace},
              {"subject", measure.subject},
              {"unit", UnitName(measure.unit)},
              {"value", ValueJson(measure.value, measure.unit)},
              {"limit", ValueJson(measure.limit, measure.unit)},
              {"passed", measure.passed}};
}

Json FramesJson(const FindingPlace& place) {
  Json list = Json::array();
  for (const PlaceFrame& frame : place.frames) {
    list.push_back(Json{{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return list;
}

Json FindingJson(const GateRun& run, const JudgedFinding& judged) {
  const Finding& finding = FindingOf(run, judged);
  const FindingPlace& place = PlaceOf(run, judged);
  Json json{{"check", finding.check},
            {"severity", SeverityName(finding.severity)},
            {"status", StatusName(judged.status)},
            {"message", finding.message},
            {"advice", finding.advice},
            {"bytes", finding.bytes},
            {"trace", run.subjects[judged.trace].trace},
            {"graph", finding.graph ? Json(finding.graph.value) : Json(nullptr)},
            {"nodes", IdsJson(finding.nodes)},
            {"blocks", IdsJson(finding.blocks)},
            {"streams", IdsJson(finding.streams)},
            {"assumes", AssumptionName(finding.assumes)},
            {"fingerprint", judged.fingerprint},
            {"place", place.logical},
            {"stack", FramesJson(place)}};
  if (judged.status == FindingStatus::kSuppressed) json["suppressed"] = judged.suppression_reason;
  return json;
}

template <typename List, typename ToJson>
Json ListJson(const List& list, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : list) array.push_back(to_json(item));
  return array;
}

}  // namespace

void RenderCheckJson(const GateRun& run, std::ostream& out) {
  const GateVerdict& verdict = run.verdict;
  const Json root = {
      {"schema", "graphkit-check"},
      {"version", 1},
      {"passed", verdict.passed()},
      {"exit_code", verdict.exit_code},
      {"reasons", ListJson(verdict.reasons, [&](const auto& r) { return ReasonJson(run, r); })},
      {"traces", ListJson(run.subjects, SubjectJson)},
      {"measures", ListJson(verdict.measures, [&](const auto& m) { return MeasureJson(run, m); })},
      {"findings", ListJson(verdict.findings, [&](const auto& f) { return FindingJson(run, f); })},
      {"notes", verdict.notes}};
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace graphkit
