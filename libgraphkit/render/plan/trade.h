// What less memory would cost: as text, and as JSON, schema "graphkit-trade", version 1
// (docs/planning.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/replay/trade.h"

namespace graphkit {

void RenderTradeText(std::span<const Trade> trades, const Trace& trace, std::ostream& out);
void RenderTradeJson(std::span<const Trade> trades, std::ostream& out);

}  // namespace graphkit
