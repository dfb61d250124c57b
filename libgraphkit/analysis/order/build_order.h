// Makes the order of all graphs of a trace at once.
#pragma once

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Edges and nodes that were taken away before their graph was destroyed don't count; edges of a
// cycle (which only a broken file has) neither.
// `unknown`: what a kernel of which it isn't known is taken to do about its grid dependencies.
Order BuildOrder(const Ran& trace, EdgeRule rule = EdgeRule::kCompletion,
                 Ternary unknown = Ternary::kUnknown);

}  // namespace graphkit
