#include "tools/graphkit/plan/render_trade.h"

#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {
namespace {

std::string NodesText(const Ran& trace, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(NameOf(trace, node));
  return Printable(AndList(names));
}

std::string ChangeText(const Ran& trace, const TradeChange& change) {
  if (change.kind == TradeChange::Kind::kFree) {
    return "free " + NameOf(trace, change.earlier) + " in the graph, after " +
           NodesText(trace, change.ends);
  }
  return StreamTitle(trace, change.stream) + " waits for " + NodesText(trace, change.ends) +
         " before it allocates " + NameOf(trace, change.later) + ", which then may take over " +
         NameOf(trace, change.earlier);
}

std::string PathText(const TradeRow& row) {
  std::string text = Counted(row.critical_path_nodes, "node");
  if (row.critical_path_ns != 0) text += ", " + FormatCount(row.critical_path_ns) + " ns";
  return text;
}

Json ChangeJson(const TradeChange& change) {
  if (change.kind == TradeChange::Kind::kFree) {
    return Json{{"change", "free"}, {"block", change.earlier}, {"after", change.ends}};
  }
  return Json{{"change", "wait"},       {"stream", change.stream},   {"for", change.ends},
              {"before", change.start}, {"earlier", change.earlier}, {"later", change.later}};
}

Json TradeRowJson(const TradeRow& row) {
  Json json{
      {"changes", row.changes}, {"peak_bytes", row.peak}, {"lower_bound_bytes", row.lower_bound}};
  GRAPHKIT_ADD_MEMBERS(json, row, critical_path_nodes, critical_path_ns);
  return json;
}

void RenderGraph(const Trade& trade, const Ran& trace, const TextOut& out) {
  out << GraphTitle(trace, trade.graph) << "\n";
  if (trade.rows.size() < 2) {
    out << "  " << FormatBytes(trade.rows.empty() ? 0 : trade.rows[0].peak)
        << "; no change that was tried makes it smaller\n";
    return;
  }
  TextRows rows = {{"changes", "peak", "lower bound", "critical path"}};
  for (const TradeRow& row : trade.rows) {
    rows.push_back({row.changes == 0 ? "none" : std::to_string(row.changes), FormatBytes(row.peak),
                    FormatBytes(row.lower_bound), PathText(row)});
  }
  out << Table(rows, "rrrl", "  ");
  for (size_t i = 0; i < trade.rows.back().changes; ++i) {
    out.Wrap("  " + std::to_string(i + 1) + ". ", ChangeText(trace, trade.changes[i]));
  }
}

}  // namespace

void RenderTradeText(std::span<const Trade> trades, const Ran& trace, const TextOut& out) {
  for (size_t i = 0; i < out.Shown(trades.size()); ++i) {
    if (i > 0) out << "\n";
    RenderGraph(trades[i], trace, out);
  }
  out << out.More(trades.size(), "");
}

void RenderTradeJson(std::span<const Trade> trades, std::ostream& out) {
  const Json graphs = ListJson(trades, [](const Trade& trade) {
    return Json{{"graph", trade.graph},
                {"changes", ListJson(trade.changes, ChangeJson)},
                {"rows", ListJson(trade.rows, TradeRowJson)}};
  });
  WriteDocument("graphkit-trade", Json{{"graphs", graphs}}, out);
}

}  // namespace graphkit
