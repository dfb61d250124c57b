// Facts of a trace, each found the slow and obvious way: from its definition, by looking at every
// block, place, node or pair. What the fast ones are compared with.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/report.h"
#include "tests/analysis/memory/slow_lifetimes.h"
#include "tests/analysis/order/slow_order.h"

namespace graphkit {

// `blocks`: of one root graph, or of one pool of it, in capture order.
using Blocks = std::vector<BlockId>;

// By root graph: what was allocated in it and in the graphs that it holds.
std::vector<Blocks> SlowBlocks(const Ran& trace);

Usage SlowUsage(const Ran& trace, const Blocks& blocks);
// For each stretch of 512 bytes who had it last. Addresses are multiples of 512.
std::vector<BlockOverlap> SlowOverlaps(const Ran& trace, const Blocks& blocks);
ReuseFacts SlowReuse(const SlowBlockOrder& order, const Ran& trace, const Blocks& blocks,
                     const BlockOrder& assumes);
// The heaviest set of blocks that conflict pairwise, among few.
Bytes SlowLowerBound(const SlowBlockOrder& order, const Ran& trace, const Blocks& blocks);
AskedMemory SlowAskedMemory(const Ran& trace);
// Of each root graph, the blocks.
std::vector<std::set<BlockId>> SlowInputs(const Ran& trace);

// That two nodes may touch the same bytes of a block without order, in this way.
struct RaceSort {
  BlockId block;
  RaceKind kind = RaceKind::kAccess;
  Overlapping overlapping = Overlapping::kUnknown;
  bool ordered_if_full = false;
  auto operator<=>(const RaceSort&) const = default;
};
struct SlowRace {
  RaceSort sort;
  NodeId a;
  NodeId b;
  bool same_pointer = false;  // both are given one address, and one may write through it
};
std::vector<SlowRace> SlowRaces(const Ran& trace, const SlowOrder& order, const SlowOrder& launch);
// That a check names a block, and how grave that is.
struct Verdict {
  std::string check;
  Severity severity = Severity::kNote;
  BlockId block;
  auto operator<=>(const Verdict&) const = default;
};
// `hopeful`: the order if every node waited of which it isn't known. None: nobody is told.
std::optional<Verdict> SlowVerdict(const Ran& trace, const SlowRace& race,
                                   const SlowOrder& hopeful);
Shape SlowShape(const Ran& trace, GraphId graph);
// Full edges without which their ends would be ordered all the same.
std::vector<EdgeId> SlowRedundantEdges(const Ran& trace, const SlowOrder& order);

}  // namespace graphkit
