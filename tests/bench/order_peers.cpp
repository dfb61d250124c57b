#include "tests/bench/order_peers.h"

#include <algorithm>

namespace graphkit {

PeerGraph MakePeerGraph(const Ran& trace) {
  PeerGraph graph{.in = FindInEdges(trace), .streams = static_cast<uint32_t>(trace.streams.size())};
  for (const Node& node : trace.nodes) graph.stream.push_back(node.stream.value);
  return graph;
}

DenseClocks::DenseClocks(const PeerGraph& graph)
    : streams_(graph.streams),
      clocks_(graph.stream.size() * graph.streams),
      stream_(graph.stream),
      place_(graph.stream.size()) {
  std::vector<uint32_t> lengths(streams_);
  for (size_t node = 0; node < stream_.size(); ++node) {
    place_[node] = lengths[stream_[node]]++;
    uint32_t* clock = clocks_.data() + node * streams_;
    for (const InEdge& edge : graph.in.Of(node)) {
      const size_t from = edge.from.index();
      const uint32_t* other = clocks_.data() + from * streams_;
      for (size_t i = 0; i < streams_; ++i) clock[i] = std::max(clock[i], other[i]);
      clock[stream_[from]] = std::max(clock[stream_[from]], place_[from] + 1);
    }
  }
}

BitClosure::BitClosure(const PeerGraph& graph)
    : words_((graph.stream.size() + 63) / 64), bits_(graph.stream.size() * words_) {
  for (size_t node = 0; node < graph.stream.size(); ++node) {
    uint64_t* ancestors = bits_.data() + node * words_;
    for (const InEdge& edge : graph.in.Of(node)) {
      const size_t from = edge.from.index();
      for (size_t i = 0; i <= from / 64; ++i) ancestors[i] |= bits_[from * words_ + i];
      ancestors[from / 64] |= uint64_t{1} << (from % 64);
    }
  }
}

bool PrunedSearch::Before(uint32_t a, uint32_t b) {
  if (a >= b) return false;
  ++question_;
  open_.assign(1, b);
  while (!open_.empty()) {
    const uint32_t node = open_.back();
    open_.pop_back();
    for (const InEdge& edge : graph_.in.Of(node)) {
      if (edge.from.value == a) return true;
      if (edge.from.value < a || seen_[edge.from.index()] == question_) continue;
      seen_[edge.from.index()] = question_;
      open_.push_back(edge.from.value);
    }
  }
  return false;
}

bool TorchSearch::Reaches(uint32_t a, uint32_t tip) {
  std::unordered_set<uint32_t>& visited = visited_[graph_.stream[tip]];
  if (!cached_) visited.clear();
  open_.clear();
  if (visited.insert(tip).second) open_.push_back(tip);
  while (!open_.empty()) {
    const uint32_t node = open_.back();
    open_.pop_back();
    for (const InEdge& edge : graph_.in.Of(node)) {
      if (visited.insert(edge.from.value).second) open_.push_back(edge.from.value);
    }
  }
  return visited.contains(a);
}

size_t TorchSearch::visited() const {
  size_t sum = 0;
  for (const auto& set : visited_) sum += set.size();
  return sum;
}

}  // namespace graphkit
