// The cost of less memory: as text, and as JSON, schema "graphkit-trade", version 1
// (docs/planning.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/plan/find_trades.h"

namespace graphkit {

void RenderTradeText(std::span<const Trade> trades, const Ran& trace, const TextOut& out);
void RenderTradeJson(std::span<const Trade> trades, std::ostream& out);

}  // namespace graphkit
