// Pairs the streams of two graphs: each matched pair of nodes votes for the pair of
// streams that it lies on.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "libgraphkit/compare/graph_view.h"
#include "libgraphkit/ids.h"

namespace graphkit {

class StreamVotes {
 public:
  // How many streams the traces have; no stream at all counts as one more.
  StreamVotes(size_t before, size_t after);

  void Vote(StreamId before, StreamId after, uint64_t weight = 1);

  // True if the stream has a partner so far, and whether this is it.
  bool HasPartner(StreamId before) const { return best_[Index(before, best_)].votes > 0; }
  StreamId Partner(StreamId before) const { return best_[Index(before, best_)].stream; }
  // True if the stream after has a partner so far.
  bool Taken(StreamId after) const { return taken_[Index(after, taken_)] > 0; }

  // Each stream's partner by most votes, each given once. Streams without a vote get none.
  struct Partners {
    std::vector<bool> known;        // by stream before; the last is for no stream
    std::vector<StreamId> streams;  // valid where known
  };
  Partners Settle() const;

 private:
  struct Best {
    StreamId stream;
    uint64_t votes = 0;
  };

  template <typename T>
  static size_t Index(StreamId stream, const std::vector<T>& all) {
    return stream ? stream.index() : all.size() - 1;
  }

  std::unordered_map<uint64_t, uint64_t> votes_;  // by both streams
  std::vector<Best> best_;
  std::vector<uint32_t> taken_;  // of how many streams it is the best
};

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

struct NodeMatching {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each node before: its number after, or kNone
  std::vector<uint32_t> before;  // and back
  StreamVotes::Partners streams;
};

// The traces give the streams' names, which tell symmetric streams apart.
NodeMatching MatchNodes(const GraphView& before, const Trace& before_trace, const GraphView& after,
                        const Trace& after_trace);

}  // namespace graphkit
