#include <nlohmann/json.hpp>

#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/id_json.h"
#include "libgraphkit/render/ranks/ranks.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

template <typename List, typename ToJson>
Json ListJson(const List& list, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : list) array.push_back(to_json(item));
  return array;
}

Json GraphJson(const RankGraph& graph) {
  Json json{{"name", graph.name}, {"ordinal", graph.ordinal}};
  for (size_t i = 0; i < graph.figures.size(); ++i) {
    json[kRankGraphFigures[i]] = FigureJson(graph.figures[i]);
  }
  return json;
}

Json RankJson(const RankSummary& rank) {
  Json figures;
  for (size_t i = 0; i < kRankFigureCount; ++i) {
    figures[kRankFigures[i]] = FigureJson(rank.figures[i]);
  }
  return Json{{"trace", rank.trace},
              {"program", rank.program},
              {"device", NameOf(rank.device)},
              {"complete", rank.complete()},
              {"incomplete_because", rank.incomplete_because},
              {"figures", std::move(figures)},
              {"graphs", ListJson(rank.graphs, GraphJson)}};
}

Json SpreadJson(const RankReport& report) {
  Json json;
  for (size_t i = 0; i < kRankFigureCount; ++i) {
    if (const std::optional<FigureSpread>& spread = report.spread[i]) {
      json[kRankFigures[i]] =
          Json{{"least", spread->least},          {"least_trace", spread->least_rank},
               {"median", spread->median},        {"most", spread->most},
               {"most_trace", spread->most_rank}, {"sum", spread->sum},
               {"unknown", spread->unknown}};
    } else {
      json[kRankFigures[i]] = nullptr;
    }
  }
  return json;
}

Json FindingChangeJson(const FindingChange& change) {
  return Json{{"check", change.check},       {"severity", SeverityName(change.severity)},
              {"message", change.message},   {"count_usual", change.count_before},
              {"count", change.count_after}, {"bytes_usual", change.bytes_before},
              {"bytes", change.bytes_after}};
}

Json GroupJson(const RankGroup& group) {
  const auto figure = [](const RankFigureChange& change) {
    return Json{{"graph", change.graph.empty() ? Json(nullptr) : Json(change.graph)},
                {"figure", change.change.figure},
                {"usual", FigureJson(change.change.before)},
                {"here", FigureJson(change.change.after)}};
  };
  return Json{{"traces", group.ranks},
              {"same_structure", group.same_structure},
              {"graphs_missing", group.graphs_missing},
              {"graphs_added", group.graphs_added},
              {"figures", ListJson(group.figures, figure)},
              {"findings", ListJson(group.findings, FindingChangeJson)}};
}

Json SharedJson(const SharedFinding& shared) {
  return Json{{"check", shared.finding.check},
              {"severity", SeverityName(shared.finding.severity)},
              {"message", shared.finding.message},
              {"fingerprint", shared.finding.fingerprint},
              {"count", shared.finding.count},
              {"bytes", shared.finding.bytes},
              {"traces", shared.ranks},
              {"most_trace", shared.most_rank},
              {"most_bytes", shared.most_bytes}};
}

}  // namespace

void RenderRanksJson(const RankReport& report, std::ostream& out) {
  const bool complete = std::ranges::all_of(report.ranks, &RankSummary::complete);
  const Json json{{"schema", "graphkit-ranks"},
                  {"version", 1},
                  {"complete", complete},
                  {"worst", report.worst()},
                  {"folder", report.folder},
                  {"traces", ListJson(report.ranks, RankJson)},
                  {"spread", SpreadJson(report)},
                  {"groups", ListJson(report.groups, GroupJson)},
                  {"findings", ListJson(report.findings, SharedJson)}};
  out << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace graphkit
