#include "tools/graphkit/plan/trade.h"

#include <vector>

#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/plan/find_trades.h"
#include "tools/graphkit/plan/render_trade.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

std::vector<Trade> FindAllTrades(const Ran& trace, const std::string& file, MarkerRule rule) {
  Progress progress("planning " + file, TradeOptions().steps);
  const Facts facts(trace);
  std::vector<GraphId> graphs;
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    if (!BlocksByPool(facts, GraphId(i)).empty()) graphs.emplace_back(i);
  }
  return FindTrades(facts, graphs, rule, {}, progress.done());
}

}  // namespace

int WriteTrades(const std::string& file, MarkerRule rule, const View& view) {
  const Result<Ran> trace = ReadWithMemory(file);
  if (!trace) return PrintError(trace.error());
  const std::vector<Trade> trades = FindAllTrades(*trace, file, rule);
  const Result<void> written = WriteView(
      view, [&](std::ostream& out) { RenderTradeJson(trades, out); },
      [&](const TextOut& out) { RenderTradeText(trades, *trace, out); });
  return written ? WarnIncomplete(*trace, file) : PrintError(written.error());
}

}  // namespace graphkit
