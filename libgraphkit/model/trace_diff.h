// Differences between two traces: `before` and `after`. Ids on the left are of the one, on the
// right of the other trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Differences between the memory of two runs, device by device.

// One figure, by its name in JSON. Nothing: unknown.
struct FigureChange {
  std::string figure;
  std::optional<uint64_t> before = 0;
  std::optional<uint64_t> after = 0;
  bool operator==(const FigureChange&) const = default;
};

// Who holds memory, as indices in the holders of the two accounts. Nothing: held nothing there.
struct HolderPair {
  std::optional<size_t> before = {};
  std::optional<size_t> after = {};
  bool operator==(const HolderPair&) const = default;
};

struct HolderChange {
  HolderPair holder = {};
  Bytes before = 0;
  Bytes after = 0;

  bool more() const { return after > before; }
  Bytes change() const { return more() ? after - before : before - after; }
};

// A remark on one of the runs, or on both with other bytes.
struct RemarkChange {
  std::string kind;
  std::optional<Bytes> before = {};
  std::optional<Bytes> after = {};
  std::string text = {};  // of the run after, where it has it
  std::string advice = {};
};

struct MemoryDiff {
  // As indices in the accounts of the two runs. Nothing: the run has no memory there.
  std::optional<size_t> before = {};
  std::optional<size_t> after = {};
  std::vector<FigureChange> figures = {};  // equal ones too
  // The largest change first, equal ones at the end; none where only one run has call stacks.
  std::vector<HolderChange> holders = {};
  std::vector<RemarkChange> remarks = {};  // only those that differ; out of memory first

  bool equal() const {
    const auto differs = [](const FigureChange& figure) {
      return figure.before && figure.after && figure.before != figure.after;
    };
    return std::ranges::none_of(figures, differs) && remarks.empty() &&
           (holders.empty() || holders.front().change() == 0);
  }
};

struct NodePair {
  NodeId before;
  NodeId after;
  bool operator==(const NodePair&) const = default;
};

struct EdgePair {
  EdgeId before;
  EdgeId after;
  bool operator==(const EdgePair&) const = default;
};

// Something that a node was given: "grid", "block", "shared bytes", "accesses", …
struct ParameterChange {
  NodePair node;
  std::string what;
  std::string before;
  std::string after;
  bool operator==(const ParameterChange&) const = default;
};

// Two graphs that are taken for the same one. Edges of nodes that were removed or added go with
// their node and aren't listed.
struct GraphDiff {
  GraphId before;
  GraphId after;
  uint64_t matched_nodes = 0;
  std::vector<NodeId> removed_nodes = {};
  std::vector<NodeId> added_nodes = {};
  std::vector<NodePair> moved_nodes = {};  // to another stream than the nodes around them
  std::vector<ParameterChange> parameters = {};
  std::vector<EdgeId> lost_edges = {};
  std::vector<EdgeId> gained_edges = {};
  std::vector<EdgePair> changed_edges = {};  // the same nodes, other ports or another type
  std::vector<FigureChange> figures = {};
  bool operator==(const GraphDiff&) const = default;

  bool equal() const {
    return removed_nodes.empty() && added_nodes.empty() && moved_nodes.empty() &&
           parameters.empty() && lost_edges.empty() && gained_edges.empty() &&
           changed_edges.empty() && figures.empty();
  }
};

// Findings of one check at one place of the program.
struct FindingChange {
  std::string check;
  Severity severity = Severity::kWarning;
  std::string message;  // of the first of them
  uint64_t count_before = 0;
  uint64_t count_after = 0;
  Bytes bytes_before = 0;
  Bytes bytes_after = 0;
  bool operator==(const FindingChange&) const = default;

  bool changed() const { return count_before != count_after || bytes_before != bytes_after; }
};

struct TraceDiff {
  std::vector<MemoryDiff> memory = {};  // of each device; empty: not compared
  std::vector<GraphDiff> graphs = {};   // equal ones too
  std::vector<GraphId> removed_graphs = {};
  std::vector<GraphId> added_graphs = {};
  std::vector<FindingChange> findings = {};

  bool any_graph() const {
    return !graphs.empty() || !removed_graphs.empty() || !added_graphs.empty();
  }
  // False: there was nothing to compare, and equal() has no meaning.
  bool any() const { return any_graph() || !memory.empty(); }
  bool memory_equal() const { return std::ranges::all_of(memory, &MemoryDiff::equal); }
  bool equal() const {
    return memory_equal() && std::ranges::all_of(graphs, &GraphDiff::equal) &&
           removed_graphs.empty() && added_graphs.empty() && findings.empty();
  }
};

}  // namespace graphkit
