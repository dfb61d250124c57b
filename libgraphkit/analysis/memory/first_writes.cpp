#include "libgraphkit/analysis/memory/first_writes.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace graphkit {
using Range = Interval<Bytes>;

FirstWrites::FirstWrites(const MemoryFacts& facts)
    : facts_(facts), unsure_(facts.trace.nodes.size()), filled_(facts.trace.blocks.size()) {
  const Ran& trace = facts.trace;
  // The nodes that launches run there aren't known.
  if (!trace.completeness.unapplied.empty()) unsure_.assign(unsure_.size(), true);
  for (const ChangedNode& changed : trace.changed_nodes) {
    if (changed.varies) unsure_[changed.node.index()] = true;
  }
  for (const EagerWork& work : trace.works) {
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      const bool writes = access.mode != AccessMode::kRead;
      if (writes && access.block.index() < filled_.size()) filled_[access.block.index()] = true;
    }
  }
}

// True if one node has run and ended whenever the other one starts.
bool FirstWrites::RunsBefore(NodeId node, NodeId later) const {
  const auto graph = [&](NodeId of) { return facts_.trace[of].graph; };
  return facts_.order().Before(node, later) &&
         !facts_.nesting().ConditionalApart(graph(node), graph(later)).valid();
}

std::vector<FirstWrites::Use> FirstWrites::UsesOf(BlockId block, GraphId root,
                                                  std::span<const NodeId> touches) const {
  const Bytes size = facts_.trace[block].size;
  std::vector<Use> uses;
  NodeId last;
  for (const NodeId node : touches) {
    if (node == last || facts_.RootOf(node) != root) continue;
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
    const bool assumed = use.first && !filled_[block.index()] &&
                         (use.mode == AccessMode::kUnknown || !use.known) &&
                         use.mode != AccessMode::kRead && use.mode != AccessMode::kReadWrite;
    use.reads = use.mode != AccessMode::kWrite && !assumed;
    use.writes =
        !unsure_[use.node.index()] && (assumed || (use.known && use.mode == AccessMode::kWrite));
  }
  return uses;
}

FirstWrites::OfGraph FirstWrites::Of(BlockId block, GraphId root,
                                     std::span<const NodeId> touches) const {
  const std::vector<Use> uses = UsesOf(block, root, touches);
  std::vector<Use> writes;
  std::ranges::copy_if(uses, std::back_inserter(writes), &Use::writes);
  const Range whole{0, facts_.trace[block].size};
  std::vector<Range> touched, found, kept = {whole}, unproved = {whole};
  for (const Use& use : uses) {
    touched.push_back(use.bytes);
    if (use.writes && use.rows == AccessRows() &&
        !facts_.nesting().InConditional(facts_.trace[use.node].graph)) {
      TakeOut(use.bytes, &kept);
      if (use.first) TakeOut(use.bytes, &unproved);
    }
    if (!use.reads) continue;
    std::vector<Range> left = {use.bytes};
    TakeOutWritten(writes, use, &left);
    found.insert(found.end(), left.begin(), left.end());
  }
  // A node that may touch anything may read what isn't written first of all.
  if (!uses.empty() && facts_.lives()[block].root == root && facts_.lives()[block].escaped) {
    found.insert(found.end(), unproved.begin(), unproved.end());
  }
  return {root, Union(std::move(touched)), Union(std::move(found)), std::move(kept)};
}

void FirstWrites::TakeOutWritten(std::span<const Use> writes, const Use& reader,
                                 std::vector<Range>* bytes) const {
  for (const Use& use : writes) {
    if (bytes->empty()) return;
    const bool whole = use.rows == AccessRows() ||
                       (use.rows == reader.rows && use.bytes.begin == reader.bytes.begin);
    if (whole && use.node != reader.node && RunsBefore(use.node, reader.node)) {
      TakeOut(use.bytes, bytes);
    }
  }
}

void FirstWrites::TakeOutWritten(GraphId root, NodeId reader,
                                 std::vector<Interval<Address>>* bytes) const {
  for (const Interval<Address> part : std::vector(*bytes)) {
    writes_()[root.index()].Visit(part, [&](Interval<Address> written, NodeId node) {
      if (node != reader && RunsBefore(node, reader)) TakeOut(written, bytes);
    });
  }
}

// Of a graph's own blocks what is assumed, too.
std::vector<RangeIndex<NodeId>> FirstWrites::FindWrites() const {
  const Ran& trace = facts_.trace;
  std::vector<RangeIndex<NodeId>> writes(trace.graphs.size());
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block block = trace.blocks[i];
    if (block.address == 0) continue;
    const auto add = [&](GraphId root, NodeId node, Range bytes) {
      writes[root.index()].Add({block.address + bytes.begin, block.address + bytes.end}, node);
    };
    const GraphId own = facts_.lives().blocks[i].root;
    if (own.valid()) {
      for (const Use& use : UsesOf(BlockId(i), own, facts_.lives().Touches(BlockId(i)))) {
        if (use.writes && use.rows == AccessRows()) add(own, use.node, use.bytes);
      }
    }
    ForEachAccess(trace, facts_.lives(), BlockId(i), [&](NodeId node, const Access& access) {
      const GraphId root = facts_.RootOf(node);
      const bool known = access.mode == AccessMode::kWrite && access.length != kLengthUnknown &&
                         access.rows == AccessRows();
      if (root != own && known && !unsure_[node.index()])
        add(root, node, BytesOf(access, block.size));
    });
  }
  for (RangeIndex<NodeId>& of_root : writes) of_root.Sort();
  return writes;
}

std::vector<FirstWrites::OfGraph> FirstWrites::Of(BlockId block) const {
  const GraphId own = facts_.lives()[block].root;
  std::map<GraphId, std::vector<NodeId>> touches = {{own, {}}};  // one graph is gone through once
  for (const NodeId node : facts_.lives().Touches(block))
    touches[facts_.RootOf(node)].push_back(node);
  std::vector<OfGraph> found = {Of(block, own, touches[own])};
  for (const auto& [root, nodes] : touches) {
    if (root != own) found.push_back(Of(block, root, nodes));
  }
  return found;
}

}  // namespace graphkit
