// Other ways to answer "is a before b?", to be measured beside analysis/order/order.h on the same
// graphs. Written for the benchmark from what is published of them; each is as simple as its idea.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Nodes in capture order, all edges full.
struct PeerGraph {
  InEdges in;
  std::vector<uint32_t> stream;  // of each node
  uint32_t streams = 0;
};
PeerGraph MakePeerGraph(const Ran& trace);

// A vector clock for every node (Fidge, Mattern): 4 bytes for each node and stream.
class DenseClocks {
 public:
  explicit DenseClocks(const PeerGraph& graph);
  bool Before(uint32_t a, uint32_t b) const {
    return clocks_[size_t{b} * streams_ + stream_[a]] > place_[a];
  }
  size_t bytes() const { return 4 * (clocks_.size() + stream_.size() + place_.size()); }

 private:
  size_t streams_;
  std::vector<uint32_t> clocks_;
  std::vector<uint32_t> stream_;
  std::vector<uint32_t> place_;
};

// Every node's ancestors as a set of bits: what MindSpore's SOMAS does.
class BitClosure {
 public:
  explicit BitClosure(const PeerGraph& graph);
  bool Before(uint32_t a, uint32_t b) const { return (bits_[b * words_ + a / 64] >> (a % 64)) & 1; }
  size_t bytes() const { return 8 * bits_.size(); }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

// A search backwards from b for every question, that goes no further back than a.
class PrunedSearch {
 public:
  explicit PrunedSearch(const PeerGraph& graph) : graph_(graph), seen_(graph.stream.size()) {}
  bool Before(uint32_t a, uint32_t b);
  size_t bytes() const { return 4 * seen_.size(); }

 private:
  const PeerGraph& graph_;
  std::vector<uint32_t> seen_;  // the question that saw the node last
  uint32_t question_ = 0;
  std::vector<uint32_t> open_;
};

// PyTorch's allocator asks at a malloc whether markers are before where its stream stands. Its
// first version (pytorch/pytorch#158352) searched the whole graph backwards each time; the shipped
// one
// (#162186) keeps for each stream the set of nodes that it has visited, and goes on from there.
class TorchSearch {
 public:
  TorchSearch(const PeerGraph& graph, bool cached)
      : graph_(graph), cached_(cached), visited_(graph.streams) {}
  // True if a is before or at `tip`, where its stream stands. Tips of a stream only go forwards.
  bool Reaches(uint32_t a, uint32_t tip);
  size_t visited() const;

 private:
  const PeerGraph& graph_;
  bool cached_;
  std::vector<std::unordered_set<uint32_t>> visited_;  // by stream
  std::vector<uint32_t> open_;
};

}  // namespace graphkit
