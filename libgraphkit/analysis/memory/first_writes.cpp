#include "libgraphkit/analysis/memory/first_writes.h"

#include <algorithm>

namespace graphkit {
using Range = Interval<Bytes>;

FirstWrites::FirstWrites(const MemoryFacts& facts)
    : facts_(facts), unsure_(facts.trace.nodes.size()) {
  const Trace& trace = facts.trace;
  // The nodes that launches run there aren't known.
  if (!trace.completeness.unapplied.empty()) unsure_.assign(unsure_.size(), true);
  for (const ChangedNode& changed : trace.changed_nodes) {
    if (changed.varies) unsure_[changed.node.index()] = true;
  }
}

// True if one node has run and ended whenever the other one starts.
bool FirstWrites::RunsBefore(NodeId node, NodeId later) const {
  const Trace& trace = facts_.trace;
  if (!facts_.order().Before(node, later)) return false;
  for (GraphId graph = trace[node].graph; trace[graph].parent.valid();) {
    const NodeId holder = trace[graph].parent;
    if (trace[holder].kind == NodeKind::kConditional &&
        !IsWithin(trace, trace[later].graph, graph)) {
      return false;
    }
    graph = trace[holder].graph;
  }
  return true;
}

std::vector<FirstWrites::Use> FirstWrites::UsesOf(BlockId block, GraphId root) const {
  const Bytes size = facts_.trace[block].size;
  std::vector<Use> uses;
  NodeId last;
  for (const NodeId node : facts_.lives().Touches(block)) {
    if (node == last || facts_.roots()[facts_.trace[node].graph.index()] != root) continue;
    last = node;
    for (const Access& access : facts_.trace.accesses.Of(facts_.trace[node].accesses)) {
      if (access.block != block) continue;
      const bool known = access.length != kLengthUnknown;
      uses.push_back({node, BytesOf(access, size), access.mode, known, access.rows});
    }
  }
  const bool fresh = facts_.lives()[block].root == root;
  for (Use& use : uses) {
    const auto before = [&, &order = facts_.likely_order()](const Use& other) {
      return order.Before(other.node, use.node);
    };
    use.first = fresh && std::ranges::none_of(uses, before);  // mostly the first one is before
    const bool assumed = use.first && (use.mode == AccessMode::kUnknown || !use.known) &&
                         use.mode != AccessMode::kRead && use.mode != AccessMode::kReadWrite;
    use.reads = use.mode != AccessMode::kWrite && !assumed;
    use.writes =
        !unsure_[use.node.index()] && (assumed || (use.known && use.mode == AccessMode::kWrite));
  }
  return uses;
}

FirstWrites::OfGraph FirstWrites::Of(BlockId block, GraphId root) const {
  const std::vector<Use> uses = UsesOf(block, root);
  const Range whole{0, facts_.trace[block].size};
  std::vector<Range> touched, found, kept = {whole}, unproved = {whole};
  for (const Use& use : uses) {
    touched.push_back(use.bytes);
    if (use.writes && use.rows == AccessRows() && !InConditional(facts_.trace, use.node)) {
      TakeOut(use.bytes, &kept);
      if (use.first) TakeOut(use.bytes, &unproved);
    }
    if (!use.reads) continue;
    std::vector<Range> left = {use.bytes};
    TakeOutWritten(uses, use, &left);
    found.insert(found.end(), left.begin(), left.end());
  }
  // A node that may touch anything may read what isn't written first of all.
  if (!uses.empty() && facts_.lives()[block].root == root && facts_.lives()[block].escaped) {
    found.insert(found.end(), unproved.begin(), unproved.end());
  }
  return {root, Union(std::move(touched)), Union(std::move(found)), std::move(kept)};
}

void FirstWrites::TakeOutWritten(std::span<const Use> uses, const Use& reader,
                                 std::vector<Range>* bytes) const {
  for (const Use& use : uses) {
    if (bytes->empty()) return;
    const bool whole = use.rows == AccessRows() ||
                       (use.rows == reader.rows && use.bytes.begin == reader.bytes.begin);
    if (use.writes && whole && use.node != reader.node && RunsBefore(use.node, reader.node)) {
      TakeOut(use.bytes, bytes);
    }
  }
}

void FirstWrites::TakeOutWritten(BlockId block, GraphId root, NodeId reader,
                                 std::vector<Range>* bytes) const {
  TakeOutWritten(UsesOf(block, root), Use{.node = reader}, bytes);
}

std::vector<FirstWrites::OfGraph> FirstWrites::Of(BlockId block) const {
  std::vector<GraphId> roots = {facts_.lives()[block].root};
  for (const NodeId node : facts_.lives().Touches(block)) {
    const GraphId root = facts_.roots()[facts_.trace[node].graph.index()];
    if (std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
  }
  std::vector<OfGraph> found;
  for (const GraphId root : roots) found.push_back(Of(block, root));
  return found;
}

}  // namespace graphkit
