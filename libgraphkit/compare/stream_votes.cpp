#include "libgraphkit/compare/stream_votes.h"

#include <algorithm>
#include <tuple>

namespace graphkit {

StreamVotes::StreamVotes(size_t before, size_t after) : best_(before + 1), taken_(after + 1, 0) {}

void StreamVotes::Vote(StreamId before, StreamId after, uint64_t weight) {
  const uint64_t votes = votes_[uint64_t{before.value} << 32 | after.value] += weight;
  Best& best = best_[Index(before, best_)];
  if (best.votes >= votes) return;
  if (best.stream != after || best.votes == 0) {
    if (best.votes > 0) --taken_[Index(best.stream, taken_)];
    ++taken_[Index(after, taken_)];
  }
  best = {after, votes};
}

StreamVotes::Partners StreamVotes::Settle() const {
  struct Candidate {
    uint64_t votes;
    StreamId before, after;
  };
  std::vector<Candidate> candidates;
  for (const auto& [streams, votes] : votes_) {
    candidates.push_back({votes, StreamId(static_cast<uint32_t>(streams >> 32)),
                          StreamId(static_cast<uint32_t>(streams))});
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(b.votes, a.before, a.after) < std::tuple(a.votes, b.before, b.after);
  });
  Partners partners{std::vector<bool>(best_.size(), false), std::vector<StreamId>(best_.size())};
  std::vector<bool> given(taken_.size(), false);
  for (const Candidate& candidate : candidates) {
    const size_t before = Index(candidate.before, best_), after = Index(candidate.after, taken_);
    if (partners.known[before] || given[after]) continue;
    partners.known[before] = given[after] = true;
    partners.streams[before] = candidate.after;
  }
  return partners;
}

}  // namespace graphkit
