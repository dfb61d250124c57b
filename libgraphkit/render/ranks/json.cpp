#include <algorithm>

#include "libgraphkit/model/names.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/ranks/ranks.h"

namespace graphkit {

void to_json(Json& json, const FigureSpread& spread) {
  json = Json{{"least", spread.least},          {"least_trace", spread.least_rank},
              {"median", spread.median},        {"most", spread.most},
              {"most_trace", spread.most_rank}, {"sum", spread.sum},
              {"unknown", spread.unknown}};
}

namespace {

// Figures under their names.
template <typename Names, typename Figures>
void AddFigures(const Names& names, const Figures& figures, Json& json) {
  for (size_t i = 0; i < figures.size(); ++i) json[names[i]] = figures[i];
}

Json RankGraphJson(const RankGraph& graph) {
  Json json{{"name", graph.name}, {"ordinal", graph.ordinal}};
  AddFigures(kRankGraphFigures, graph.figures, json);
  return json;
}

Json RankJson(const RankSummary& rank) {
  Json figures;
  AddFigures(kRankFigures, rank.figures, figures);
  return Json{{"trace", rank.trace},
              {"program", rank.program},
              {"device", NameOf(rank.device)},
              {"complete", rank.complete()},
              {"incomplete_because", rank.incomplete_because},
              {"figures", std::move(figures)},
              {"graphs", ListJson(rank.graphs, RankGraphJson)}};
}

Json FindingChangeJson(const FindingChange& change) {
  return Json{{"check", change.check},       {"severity", change.severity},
              {"message", change.message},   {"count_usual", change.count_before},
              {"count", change.count_after}, {"bytes_usual", change.bytes_before},
              {"bytes", change.bytes_after}};
}

Json FigureChangeJson(const RankFigureChange& change) {
  return Json{{"graph", change.graph.empty() ? Json(nullptr) : Json(change.graph)},
              {"figure", change.change.figure},
              {"usual", change.change.before},
              {"here", change.change.after}};
}

Json GroupJson(const RankGroup& group) {
  Json json{{"traces", group.ranks}};
  GRAPHKIT_ADD_MEMBERS(json, group, same_structure, graphs_missing, graphs_added);
  json["figures"] = ListJson(group.figures, FigureChangeJson);
  json["findings"] = ListJson(group.findings, FindingChangeJson);
  return json;
}

Json SharedJson(const SharedFinding& shared) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, shared.finding, check, severity, message, fingerprint, count, bytes);
  json["traces"] = shared.ranks;
  json["most_trace"] = shared.most_rank;
  json["most_bytes"] = shared.most_bytes;
  return json;
}

}  // namespace

void RenderRanksJson(const RankReport& report, std::ostream& out) {
  Json spread;
  AddFigures(kRankFigures, report.spread, spread);
  const bool complete = std::ranges::all_of(report.ranks, &RankSummary::complete);
  WriteDocument("graphkit-ranks",
                Json{{"complete", complete},
                     {"worst", report.worst()},
                     {"folder", report.folder},
                     {"traces", ListJson(report.ranks, RankJson)},
                     {"spread", std::move(spread)},
                     {"groups", ListJson(report.groups, GroupJson)},
                     {"findings", ListJson(report.findings, SharedJson)}},
                out, 1);
}

}  // namespace graphkit
