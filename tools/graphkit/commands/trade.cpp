// `graphkit trade`: waits and frees that would lower the peak, and their cost.
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/trade.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

namespace {

struct TradeArguments {
  std::string file;
  MarkerRule rule = MarkerRule::kLastUse;
  View view;
};

std::vector<Trade> FindAllTrades(const Trace& trace, const TradeArguments& arguments) {
  Progress progress("planning " + arguments.file, TradeOptions().steps);
  const Facts facts(trace);
  std::vector<GraphId> graphs;
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    if (!BlocksByPool(facts, GraphId(i)).empty()) graphs.emplace_back(i);
  }
  return FindTrades(facts, graphs, arguments.rule, {}, progress.done());
}

int RunTrade(const TradeArguments& arguments) {
  const Result<Trace> trace = ReadWithMemory(arguments.file);
  if (!trace) return PrintError(trace.error());
  const std::vector<Trade> trades = FindAllTrades(*trace, arguments);
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderTradeJson(trades, out); },
      [&](const TextOut& out) { RenderTradeText(trades, *trace, out); });
  return written ? WarnIncomplete(*trace, arguments.file) : PrintError(written.error());
}

}  // namespace

void AddTradeCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<TradeArguments>(
      app, exit_code, RunTrade, "trade",
      "Find the waits and frees that would lower the peak, and their cost in critical path",
      {"graphkit trade trace.json"});
  AddTrace(*sub, arguments->file);
  AddAssume(*sub, arguments->rule);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
}

}  // namespace graphkit
