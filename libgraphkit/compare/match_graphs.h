// Pairs the graphs of two runs. Threads capture in another order in every run, so
// that the order says least:
//
//     1. the same content and name
//     2. the same content
//     3. the same name, and part of the content: the most alike first
//     4. the same name, in order
//
// Graphs of the same content are interchangeable: those with the same figures go together first,
// then the least with the least, so that one that changed is left for one that isn't there any
// more.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct ComparedGraph {
  using Figures = std::array<std::optional<uint64_t>, 10>;  // nothing: unknown

  std::string_view name = {};
  const GraphContent* content = nullptr;  // null: unknown; never alike
  Figures figures{};
};

struct GraphPairs {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each graph before: its place after, or kNone
  std::vector<uint32_t> before;  // and back
};

// Near linear in the number of graphs. The result depends on nothing but the arguments.
GraphPairs MatchContents(std::span<const ComparedGraph> before,
                         std::span<const ComparedGraph> after);

struct GraphMatching {
  std::vector<std::pair<GraphId, GraphId>> pairs = {};
  std::vector<GraphId> removed = {}, added = {};
};

struct ComparedTrace {
  const Ran& trace;
  const std::map<GraphId, const GraphSummary*>& summaries;
  std::vector<GraphContent> contents;  // of each graph of the trace
};

// Matches the graphs that stand alone, by content, then by name, then in order, as
// MatchContents does. Graphs without nodes are left out.
GraphMatching MatchGraphs(const ComparedTrace& before, const ComparedTrace& after);

// A trace's graphs laid out for comparison: nodes numbered within their graph, edges both ways, and
// each node's label, by content, so that labels of two traces can be compared.

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
std::vector<GraphView> ViewGraphs(const Ran& trace);

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

// Pairs the nodes of two graphs by their kind and their surroundings, never by
// their ids.
//
// A node's cones are all that leads to it and all that it leads to. Where both are the same on both
// sides, the nodes match; a change leaves the cones that don't hold it as they were:
//
//     a ─── b ─── x ─── c ─── d          a, b: what leads to them is unchanged
//     a ─── b ─── y ─── c ─── d          c, d: what they lead to is unchanged
//
// Between several changes the matching spreads from matched nodes to neighbours with the same
// label, then along each stream by longest common subsequences, then to kernels of the same name
// anywhere.

// Of each stream the one after that it is matched with.
struct StreamPartners {
  std::vector<std::optional<StreamId>> after;  // by stream before; the last is for no stream

  std::optional<StreamId> Of(StreamId before) const {
    return before ? after[before.index()] : after.back();
  }
};

struct NodeMatching {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each node before: its number after, or kNone
  std::vector<uint32_t> before;  // and back
  StreamPartners streams;
};

// The traces give the streams' names, which tell symmetric streams apart.
NodeMatching MatchNodes(const GraphView& before, const Ran& before_trace, const GraphView& after,
                        const Ran& after_trace);

// The common subsequence of two sequences.

// Places (in a, in b) of equal values, rising in both: as many as possible where the sequences
// differ over less than 4 000 × 4 000 places once their common ends are taken off, otherwise as
// many as a search with a short horizon finds.
std::vector<std::pair<uint32_t, uint32_t>> CommonSubsequence(std::span<const uint64_t> a,
                                                             std::span<const uint64_t> b);

// The places of a longest rising subsequence of `values`.
std::vector<uint32_t> LongestRising(std::span<const uint32_t> values);

// Goes through two sorted lists together: `left` and `right` get what only one of them has, `both`
// two of equal keys.
template <typename T, typename Key, typename Left, typename Right, typename Both>
void WalkSorted(const std::vector<T>& a, const std::vector<T>& b, Key key, Left left, Right right,
                Both both) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && key(*i) < key(*j))) {
      left(*i++);
    } else if (i == a.end() || key(*j) < key(*i)) {
      right(*j++);
    } else {
      both(*i++, *j++);
    }
  }
}

}  // namespace graphkit
