// Launches of graphs: the graph that each ran, their order, and inputs that were freed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/launches/launch_order.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

class Facts;

// By launch, the graph that it ran: the exec's own, or that of its last update. None where it ran a
// version of it that isn't shown (model/graph_versions.h).
std::vector<GraphId> FindRan(const Trace& trace);

// By graph, its launches: indices in Trace::launches. `ran` as of FindRan.
std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace,
                                                   const std::vector<GraphId>& ran);

// By graph: a capture of it came to that.
std::vector<bool> CapturedWith(const Trace& trace, CaptureStatus status);

// By graph: it surely never ran and never will. It is gone, or only a model for others (clones,
// child graphs), and no exec was made of it. Its clones are judged for themselves.
std::vector<bool> FindNeverRun(const Trace& trace);

// A launch of `first` and a later one of `second` that isn't after its end; rather one that no
// thread has waited for.
struct LaunchPair {
  uint32_t first = 0;
  uint32_t second = 0;
  bool by_threads = false;  // after it if the threads of the program are ordered
};
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second);

// An input of a graph that was freed before the graph's last launch, which touched it as it was
// captured.
struct StaleInput {
  GraphInput input;
  // The block that the program made in its place: allocated about when the input was freed, or
  // later, by the same code (the same stack; where stacks aren't known the same size, pool and
  // stream), alive at the launch, and at another address. None, or not the only one: an invalid id.
  BlockId replaced_by;
};
// By root graph. Left out are blocks of a private pool that is still there, if only graphs were
// given their memory since. So graphs of one pool hand their results on: what the pool's allocator
// calls free is written anew by the launch of its owner.
std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts);

// The trace records if the first node that touches the input reads or writes it.
bool KnownUse(const Trace& trace, const GraphInput& input);
// Page-locked by CUDA, or registered.
bool IsHostMemory(const Trace& trace, BlockId block);

// Makes a note of a finding on launches that only waits of other threads order.
void DoubtThreads(Finding* finding);

// "launch 3 of graph 1 on stream 2".
std::string LaunchText(const Trace& trace, uint32_t launch, GraphId graph);

}  // namespace graphkit
