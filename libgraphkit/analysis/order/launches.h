// What launches run, and what graphs touch that isn't theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/launch_order.h"
#include "libgraphkit/model/node_changes.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Of a launch, the graph that it ran: the exec's own, or that of its last update.
class RunGraphs {
 public:
  explicit RunGraphs(const Trace& trace);
  // Launches have to be asked for in their order.
  GraphId Of(const Launch& launch);

 private:
  const Trace& trace_;
  std::vector<GraphId> graphs_;
  size_t next_ = 0;
};

// Whether a node of the root graph that touches the block is, before `at`, as it was made: not
// given other parameters, and not switched off.
bool StillTouches(const Facts& facts, const NodeChanges& changes, GraphId root, BlockId block,
                  Seq at);

// By graph, its launches: indices in Trace::launches.
std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace);

// A launch of `first` and a later one of `second` that isn't after its end.
using LaunchPair = std::pair<uint32_t, uint32_t>;
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second);

// The block that a program made in an input's place: allocated about when the input was freed, or
// later, by the same code (the same stack; where stacks aren't known the same size, pool and
// stream), alive at `at`, and at another address. None, or not the only one: an invalid id.
BlockId ReplacedBy(const Facts& facts, BlockId input, Seq at);

// Whether a block that was freed is still what it was at `at`: it lies in a private pool, which is
// still there, and only graphs were given its memory since. So graphs of one pool hand their
// results on: what the pool's allocator calls free is written anew by the launch of its owner.
bool StillThere(const Trace& trace, BlockId input, Seq at);

// "launch 3 of graph 1 on stream 2".
std::string LaunchText(const Trace& trace, uint32_t launch, GraphId graph);

}  // namespace graphkit
