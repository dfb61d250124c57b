// A trace's graphs laid out for comparison: nodes numbered within their graph, edges both ways, and
// each node's label, by content, so that labels of two traces can be compared.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// An edge as its one end sees it.
struct Neighbour {
  uint32_t node = 0;  // the other end, in the graph's numbering
  uint32_t data = 0;  // ports and type
  EdgeId edge;
};

struct GraphView {
  GraphId graph;
  std::vector<NodeId> nodes = {};  // by capture order; the place here is the node's number
  std::vector<uint32_t> first_out = {}, first_in = {};  // one more than nodes
  std::vector<Neighbour> out = {}, in = {};
  std::vector<StreamId> streams = {};
  std::vector<uint64_t> names = {};   // kind and kernel
  std::vector<uint64_t> labels = {};  // and parameters, and the graphs that the node holds
  std::vector<bool> is_kernel = {};   // with a name

  size_t size() const { return nodes.size(); }
  std::span<const Neighbour> Out(uint32_t node) const { return Between(out, first_out, node); }
  std::span<const Neighbour> In(uint32_t node) const { return Between(in, first_in, node); }

 private:
  static std::span<const Neighbour> Between(const std::vector<Neighbour>& all,
                                            const std::vector<uint32_t>& first, uint32_t node) {
    return std::span(all).subspan(first[node], first[node + 1] - first[node]);
  }
};

// One for each graph of the trace; a node's label tells what the graphs inside it are.
std::vector<GraphView> ViewGraphs(const Trace& trace);

// Hashes. Two that are equal stand for the same thing, but for a chance of 2^-64.
uint64_t Mix(uint64_t hash, uint64_t value);

// FNV-1a, 64 bits (RFC 9923), going on from `hash`: the same in all builds.
uint64_t HashText(std::string_view text, uint64_t hash = 0xcbf29ce484222325u);

// A graph as a whole, whatever its ids and the numbering of its streams, and a sample of its nodes:
// what each is called, and what it is with its parameters.
GraphContent ContentOf(const GraphView& view);
std::vector<GraphContent> ContentsOf(const std::vector<GraphView>& views);

// Of each node: itself and all that leads to it (`forward`), or all that it leads to, from `labels`
// and the edges' data. Nodes of a cycle, which only a broken trace has, get their label.
std::vector<uint64_t> ConeHashes(const GraphView& view, const std::vector<uint64_t>& labels,
                                 bool forward);

}  // namespace graphkit
