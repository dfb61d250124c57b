#include "tools/graphkit/commands/plan_trade.h"

#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/render/plan/plan.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {
namespace {

std::vector<Trade> FindTrades(const Trace& trace, MarkerRule rule, const TradeOptions& options) {
  const Facts facts = FindFacts(trace);
  std::vector<Trade> trades;
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    if (BlocksByPool(facts, GraphId(i)).empty()) continue;
    trades.push_back(FindTrade(facts, GraphId(i), rule, options));
  }
  return trades;
}

}  // namespace

int ShowTrade(const std::string& file, MarkerRule rule, const TradeOptions& options, Format format,
              const std::string& output) {
  const Result<Trace> trace = ReadInput(file);
  if (!trace) return PrintError(trace.error());
  if (const Result<void> holds = HoldsMemory(*trace, file); !holds) {
    return PrintError(holds.error());
  }
  const Progress progress("planning " + file);
  const std::vector<Trade> trades = FindTrades(*trace, rule, options);
  const Result<void> written = WriteOutput(output.empty() ? "-" : output, [&](std::ostream& out) {
    if (format == Format::kJson || !output.empty()) {
      RenderTradeJson(trades, out);
    } else {
      RenderTradeText(trades, *trace, out);
    }
  });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*trace, file);
}

}  // namespace graphkit
