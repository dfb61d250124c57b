// Times of graphs' nodes from a profile, gathered, and made into a trace: a graph for each graph
// id, with the nodes that ran. A profile has no edges: the trace is incomplete.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/model/profile.h"

namespace graphkit {

// One run of a node.
struct NodeRun {
  uint64_t tool_id = 0;  // graph id << 32 | node id
  NodeKind kind = NodeKind::kUnknown;
  std::string_view kernel;
  LaunchShape shape;
  uint64_t stream = 0;
  uint32_t device = 0;
  uint64_t duration_ns = 0;
};

NodeRun RunOf(const ReplayedWork& work, const Profile& profile);

class NodeTimes {
 public:
  void Add(const NodeRun& run);
  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  uint64_t runs() const { return runs_; }

  // The graphs with their nodes, in order of their ids; durations are means. `named`: by the ids of
  // the tool.
  void MakeGraphs(TraceMaker& make, bool named = true) const;
  std::vector<NodeTime> Times() const;

 private:
  struct Entry {
    NodeRun first;  // its kernel refers to `kernel`
    std::string kernel;
    uint64_t runs = 0;
    uint64_t timed = 0;  // of them those with a duration: not 0, negative, or no number
    uint64_t total_ns = 0;
  };
  std::map<uint64_t, Entry> nodes_;  // by tools id
  uint64_t runs_ = 0;
};

// Graphs of launches whose work isn't named as runs of nodes, but carries the correlation id of the
// call that launched it: as HIP's profilers have it, and CUPTI before CUDA 12. A node for each
// piece of work, in the order in which they began, and the launches. Launches of the same work in
// the same order count as one graph's. How much work that was.
uint64_t MakeLaunchedGraphs(const Profile& profile, TraceMaker& make);

// Calls that launch a graph, by their names in a profile: those of CUDA's runtime and driver and of
// HIP, with whatever version they end in ("cudaGraphLaunch_v10000").
class GraphLaunchCalls {
 public:
  bool Take(std::string_view name, uint64_t count = 1);  // true: it is one
  // A call of the runtime may show the driver's inside it: those of the API with the most.
  uint64_t count() const { return std::ranges::max(by_api_); }

 private:
  std::array<uint64_t, 3> by_api_{};
};

// Counts of a profile beside the runs of graphs' nodes.
struct ProfileCounts {
  uint64_t events = 0;
  uint64_t work = 0;  // kernels, copies and sets
  uint64_t graph_launches = 0;
  uint64_t launched_work = 0;  // of these launches, as MakeLaunchedGraphs knows it
  uint64_t captures = 0;
  uint64_t captured_kernels = 0;
};

// "7 747 kernels, copies and sets, 6 of them runs of 3 graph nodes; 2 graph launches"
std::string ProfileSummary(const NodeTimes& times, const ProfileCounts& counts);
// The note on what a profile lacks; without graph nodes, on what it has. `remedy`: how to get
// them.
std::string ProfileNote(const NodeTimes& times, const ProfileCounts& counts,
                        std::string_view remedy);

}  // namespace graphkit
