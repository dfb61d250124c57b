// The bytes of a block that a launch surely writes, and those that it may read before that:
// there it finds what an earlier launch, another graph or the host left.
//
//     block    |--------------------|
//     node 0   |wwwwwwww|                  surely written: 0 and 2 run in every launch
//     node 1        |wwwwwwwwwwwwwww|      in a conditional body: it may not run
//     node 2                   |wwww|
//     node 3   |rrrrrrrrrrrrrrrrrrrr|      after all of them
//     found             |xxxxxxx|
//
// A write counts for a read if it has ended before the read starts in every execution, runs
// whenever the read does, with the same parameters in each launch, and has a known extent. A write
// in rows leaves what lies between them, so that it counts for a read of the same rows only. One
// assumption is made: of the nodes that touch a block first, one that may write it, by an extent
// that isn't known, writes all from its address on, and doesn't read it before. A program has no
// content there to read, unless work outside of graphs wrote some. A node that may touch anything,
// but isn't ordered with all that touches a block, doesn't touch it.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {

// Takes bytes out of disjoint ranges.
template <typename T>
void TakeOut(const Interval<T>& bytes, std::vector<Interval<T>>* ranges) {
  for (size_t i = ranges->size(); i-- > 0;) {
    const Interval<T> range = (*ranges)[i];
    if (!Overlaps(range, bytes)) continue;
    const Interval<T> before{range.begin, bytes.begin}, after{bytes.end, range.end};
    (*ranges)[i] = before.empty() ? after : before;
    if ((*ranges)[i].empty()) {
      ranges->erase(ranges->begin() + static_cast<std::ptrdiff_t>(i));
    } else if (!before.empty() && !after.empty()) {
      ranges->insert(ranges->begin() + static_cast<std::ptrdiff_t>(i) + 1, after);
    }
  }
}

class FirstWrites {
 public:
  explicit FirstWrites(const MemoryFacts& facts);

  // Of the launches of one graph: some bytes of a block, or all of them.
  struct OfGraph {
    GraphId root;
    std::vector<Interval<Bytes>> touched = {};
    std::vector<Interval<Bytes>> found = {};  // may be read, and aren't surely written before
    std::vector<Interval<Bytes>> kept = {};   // aren't surely written: they stay as they were
  };
  // Its own graph, then each other one whose nodes touch it, by graph; ranges are disjoint and by
  // begin.
  std::vector<OfGraph> Of(BlockId block) const;

  // Takes out of `bytes`, all of which the node reads, what the graph has surely written when it
  // starts, as whatever block.
  void TakeOutWritten(GraphId root, NodeId reader, std::vector<Interval<Address>>* bytes) const;

 private:
  struct Use {
    NodeId node;
    Interval<Bytes> bytes;
    AccessMode mode;
    bool known;  // where the bytes end
    AccessRows rows;
    bool reads = false;   // and not only what it wrote itself
    bool writes = false;  // surely
    bool first = false;   // no other use is likely to come before it
  };
  // `touches`: the nodes that touch the block, those of other graphs or not.
  std::vector<Use> UsesOf(BlockId block, GraphId root, std::span<const NodeId> touches) const;
  OfGraph Of(BlockId block, GraphId root, std::span<const NodeId> touches) const;
  void TakeOutWritten(std::span<const Use> writes, const Use& reader,
                      std::vector<Interval<Bytes>>* bytes) const;
  bool RunsBefore(NodeId node, NodeId later) const;
  std::vector<RangeIndex<NodeId>> FindWrites() const;

  const MemoryFacts& facts_;
  std::vector<bool> unsure_;  // by node: launches run it with several parameters, or not at all
  std::vector<bool> filled_;  // by block: work outside of graphs may have written it
  const Fact<std::vector<RangeIndex<NodeId>>> writes_{[this] { return FindWrites(); }};  // by root
};

}  // namespace graphkit
