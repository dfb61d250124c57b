// Plans, and the cost of less memory: as text, and as JSON.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "libgraphkit/alloc/plan/trade.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// The figures of a plan, for people.
void RenderPlanText(const PlannedMemory& plan, std::ostream& out);

// "1.0025": how much higher than the bound; "1" for a plan without bytes.
std::string RatioText(Bytes bytes, Bytes bound);

// A plan as JSON, schema "graphkit-plan", version 1 (docs/plan-format.md).
void RenderPlanJson(const PlannedMemory& plan, std::ostream& out);

// The cost of less memory: as text, and as JSON, schema "graphkit-trade", version 1
// (docs/planning.md).
void RenderTradeText(std::span<const Trade> trades, const Trace& trace, const TextOut& out);
void RenderTradeJson(std::span<const Trade> trades, std::ostream& out);

// Memory that may be borrowed: as text, and as JSON, schema "graphkit-borrow", version 1
// (docs/planning.md).
struct BorrowView {
  std::span<const PoolBorrow> pools;
  const PlannedMemory* plan = nullptr;  // with plan.borrow, or null
  NodeId at = {};                       // none: not asked for
  std::span<const BorrowAt> at_node = {};
  GraphMemory graph_memory = {};
};
void RenderBorrowText(const BorrowView& view, const Trace& trace, const TextOut& out);
void RenderBorrowJson(const BorrowView& view, const Trace& trace, std::ostream& out);

}  // namespace graphkit
