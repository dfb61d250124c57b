// Pairs the streams of two graphs: each matched pair of nodes votes for the pair of
// streams that it lies on.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

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

}  // namespace graphkit
