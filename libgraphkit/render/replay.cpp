#include "libgraphkit/render/replay.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libgraphkit/render/analyze_json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

Json FiguresJson(const PolicyFigures& figures) {
  return Json{{"peak_reserved_bytes", figures.peak_reserved},
              {"peak_allocated_bytes", figures.peak_allocated},
              {"peak_active_bytes", figures.peak_active},
              {"peak_extent_bytes", figures.peak_extent},
              {"never_reclaimed_bytes", figures.never_reclaimed},
              {"missed_bytes", figures.missed},
              {"operations", figures.operations},
              {"seconds", figures.seconds},
              {"lower_bound_bytes", figures.lower_bound}};
}

Json UnsafeJson(const GraphReplay& graph) {
  Json list = Json::array();
  for (const UnsafePair& pair : graph.unsafe) {
    list.push_back(Json{{"earlier", pair.earlier.value}, {"later", pair.later.value}});
  }
  return list;
}

Json PolicyJson(const PolicyReplay& replay, bool verify) {
  Json policy{{"policy", InfoOf(replay.policy).name}};
  policy.update(FiguresJson(replay.figures));
  policy["verified"] = verify ? Json(replay.verified) : Json(nullptr);
  policy["assumes"] = AssumptionName(replay.assumes);
  Json graphs = Json::array();
  for (const GraphReplay& graph : replay.graphs) {
    Json one{{"id", graph.graph.value}};
    one.update(FiguresJson(graph.figures));
    one["unsafe"] = verify ? UnsafeJson(graph) : Json(nullptr);
    graphs.push_back(std::move(one));
  }
  policy["graphs"] = std::move(graphs);
  return policy;
}

void RenderUnsafe(const PolicyReplay& replay, std::ostream& out) {
  for (const GraphReplay& graph : replay.graphs) {
    if (graph.unsafe.empty()) continue;
    const UnsafePair& pair = graph.unsafe.front();
    out << "\n"
        << InfoOf(replay.policy).name << ", graph " << graph.graph.value << ": "
        << Counted(graph.unsafe.size(), "pair")
        << " of blocks share memory and nothing orders them; the first is block "
        << pair.earlier.value << " and block " << pair.later.value << "\n";
  }
}

}  // namespace

void RenderReplayText(std::span<const PolicyReplay> replays, bool verify, const Trace& trace,
                      std::ostream& out) {
  std::vector<std::vector<std::string>> rows = {{"policy", "reserved", "extent", "lower bound",
                                                 "active", "allocated", "never reclaimed",
                                                 "missed"}};
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  if (verify) rows[0].push_back("verified");
  if (verify) right.push_back(false);
  for (const PolicyReplay& replay : replays) {
    const PolicyFigures& figures = replay.figures;
    rows.push_back({InfoOf(replay.policy).name, FormatBytes(figures.peak_reserved),
                    FormatBytes(figures.peak_extent), FormatBytes(figures.lower_bound),
                    FormatBytes(figures.peak_active), FormatBytes(figures.peak_allocated),
                    FormatBytes(figures.never_reclaimed), FormatBytes(figures.missed)});
    if (verify) rows.back().push_back(replay.verified ? "yes" : "no");
  }
  if (trace.process.device == DeviceKind::kSoft) {
    out << "recorded on the software device (simulated)\n\n";
  }
  out << Table(rows, right, "");
  for (const PolicyReplay& replay : replays) RenderUnsafe(replay, out);
}

void RenderReplayJson(std::span<const PolicyReplay> replays, bool verify, const Trace& trace,
                      std::ostream& out) {
  Json policies = Json::array();
  for (const PolicyReplay& replay : replays) policies.push_back(PolicyJson(replay, verify));
  const Json document{{"schema", "graphkit-replay"},
                      {"version", 1},
                      {"device", DeviceName(trace.process.device)},
                      {"complete", trace.completeness.complete()},
                      {"policies", policies}};
  out << document.dump(2) << "\n";
}

}  // namespace graphkit
