// Memory that may be borrowed between launches, and in a plan at a node.
#pragma once

#include <span>

#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

struct BorrowView {
  std::span<const PoolBorrow> pools;
  const PlannedMemory* plan = nullptr;  // with plan.borrow, or null
  NodeId at = {};                       // none: not asked for
  std::span<const BorrowAt> at_node = {};
  GraphMemory graph_memory = {};
};
void RenderBorrowText(const BorrowView& view, const Ran& trace, const TextOut& out);
Json BorrowJson(const BorrowView& view, const Ran& trace);

}  // namespace graphkit
