#include "libgraphkit/compare/match_graphs.h"

#include <map>
#include <unordered_map>

namespace graphkit {
namespace {

constexpr uint32_t kUnmatched = NodeMatching::kNone;

// One key for each node, on both sides: nodes may match where the keys are equal.
struct Keys {
  std::vector<uint64_t> before, after;
};

struct Entry {
  uint64_t key;
  uint32_t node;
  auto operator<=>(const Entry&) const = default;
};

// Calls visit(entries of one side, entries of the other) for each key that both sides have.
template <typename Visit>
void ForCommonKeys(const std::vector<Entry>& a, const std::vector<Entry>& b, Visit visit) {
  const auto run = [](const std::vector<Entry>& all, size_t from) {
    size_t to = from;
    while (to < all.size() && all[to].key == all[from].key) ++to;
    return std::span(all).subspan(from, to - from);
  };
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].key != b[j].key) {
      ++(a[i].key < b[j].key ? i : j);
      continue;
    }
    const auto left = run(a, i), right = run(b, j);
    visit(left, right);
    i += left.size();
    j += right.size();
  }
}

// Pairs the streams of two graphs: each matched pair of nodes votes for the pair of streams that it
// lies on.
class StreamVotes {
 public:
  // How many streams the traces have; no stream at all counts as one more.
  StreamVotes(size_t before, size_t after) : best_(before + 1), taken_(after + 1, 0) {}

  void Vote(StreamId before, StreamId after) {
    const uint64_t votes = ++votes_[uint64_t{before.value} << 32 | after.value];
    Best& best = best_[Index(before, best_)];
    if (best.votes >= votes) return;
    if (best.stream != after || best.votes == 0) {
      if (best.votes > 0) --taken_[Index(best.stream, taken_)];
      ++taken_[Index(after, taken_)];
    }
    best = {after, votes};
  }

  // True if the stream has a partner so far, and which it is.
  bool HasPartner(StreamId before) const { return best_[Index(before, best_)].votes > 0; }
  StreamId Partner(StreamId before) const { return best_[Index(before, best_)].stream; }
  // True if the stream after has a partner so far.
  bool Taken(StreamId after) const { return taken_[Index(after, taken_)] > 0; }

  // Each stream's partner by most votes, each given once. Streams without a vote get none.
  StreamPartners Settle() const {
    using Candidate = std::tuple<uint64_t, StreamId, StreamId>;  // votes (inverted), before, after
    std::vector<Candidate> candidates;
    for (const auto& [streams, votes] : votes_) {
      candidates.emplace_back(~votes, static_cast<uint32_t>(streams >> 32),
                              static_cast<uint32_t>(streams));
    }
    std::ranges::sort(candidates);
    StreamPartners partners{std::vector<std::optional<StreamId>>(best_.size())};
    std::vector<bool> given(taken_.size(), false);
    for (const auto& [votes, before, after] : candidates) {
      std::optional<StreamId>& partner = partners.after[Index(before, best_)];
      if (partner || given[Index(after, taken_)]) continue;
      given[Index(after, taken_)] = true;
      partner = after;
    }
    return partners;
  }

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

// The nodes after of one class, stream by stream, in capture order.
class Candidates {
 public:
  Candidates(std::span<const Entry> entries, const GraphView& view,
             const std::vector<uint32_t>& partners)
      : partners_(partners) {
    for (const Entry& entry : entries) by_stream_[view.streams[entry.node]].push_back(entry.node);
  }

  // The first free node: on the partner stream, else on a stream without a partner, else
  // any.
  uint32_t Pick(StreamId stream, const StreamVotes& votes) {
    if (votes.HasPartner(stream)) {
      const auto found = by_stream_.find(votes.Partner(stream));
      const uint32_t node = found == by_stream_.end() ? kUnmatched : FirstFree(found->second);
      if (node != kUnmatched) return node;
    }
    uint32_t any = kUnmatched;
    for (auto& [candidate, nodes] : by_stream_) {
      const uint32_t node = FirstFree(nodes);
      if (node != kUnmatched && !votes.Taken(candidate)) return node;
      if (any == kUnmatched) any = node;
    }
    return any;
  }

 private:
  struct Queue {
    std::vector<uint32_t> nodes;
    size_t next = 0;
    void push_back(uint32_t node) { nodes.push_back(node); }
  };

  uint32_t FirstFree(Queue& queue) {
    while (queue.next < queue.nodes.size() && partners_[queue.nodes[queue.next]] != kUnmatched) {
      ++queue.next;
    }
    return queue.next < queue.nodes.size() ? queue.nodes[queue.next] : kUnmatched;
  }

  const std::vector<uint32_t>& partners_;
  std::map<StreamId, Queue> by_stream_;
};

using NodesOfStreams = std::map<StreamId, std::vector<uint32_t>>;

NodesOfStreams NodesByStream(const GraphView& view) {
  NodesOfStreams nodes;
  for (uint32_t node = 0; node < view.size(); ++node) nodes[view.streams[node]].push_back(node);
  return nodes;
}

std::vector<uint64_t> KeysOf(std::span<const uint32_t> nodes, const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> of_nodes;
  for (const uint32_t node : nodes) of_nodes.push_back(keys[node]);
  return of_nodes;
}

// How many nodes of both lists could be matched by their keys alone.
size_t CommonKeys(std::span<const uint32_t> before, const std::vector<uint64_t>& before_keys,
                  std::span<const uint32_t> after, const std::vector<uint64_t>& after_keys) {
  const auto sorted = [](std::span<const uint32_t> nodes, const std::vector<uint64_t>& keys) {
    std::vector<uint64_t> of_nodes = KeysOf(nodes, keys);
    std::ranges::sort(of_nodes);
    return of_nodes;
  };
  std::vector<uint64_t> common;
  std::ranges::set_intersection(sorted(before, before_keys), sorted(after, after_keys),
                                std::back_inserter(common));
  return common.size();
}

Keys Cones(const GraphView& before, const GraphView& after, const Keys& labels, bool forward) {
  return {ConeHashes(before, labels.before, forward), ConeHashes(after, labels.after, forward)};
}

Keys Both(const Keys& a, const Keys& b) {
  Keys both = a;
  for (size_t i = 0; i < both.before.size(); ++i) both.before[i] = Mix(a.before[i], b.before[i]);
  for (size_t i = 0; i < both.after.size(); ++i) both.after[i] = Mix(a.after[i], b.after[i]);
  return both;
}

class Matcher {
 public:
  Matcher(const GraphView& before, const Ran& before_trace, const GraphView& after,
          const Ran& after_trace)
      : before_(before),
        after_(after),
        votes_(before_trace.streams.size(), after_trace.streams.size()) {
    matching_.after.assign(before.size(), kUnmatched);
    matching_.before.assign(after.size(), kUnmatched);
    VoteByName(before_trace, after_trace);
  }

  NodeMatching Run() {
    const Keys labels{before_.labels, after_.labels}, names{before_.names, after_.names};
    const Keys forward = Cones(before_, after_, labels, true);
    const Keys backward = Cones(before_, after_, labels, false);
    const Keys exact = Both(forward, backward);
    MatchUnique(exact);
    MatchAmbiguous(exact, true);
    if (!Done()) {
      const Keys forward_names = Cones(before_, after_, names, true);
      const Keys backward_names = Cones(before_, after_, names, false);
      const Keys exact_names = Both(forward_names, backward_names);
      const Keys* kinds[] = {&exact_names, &forward, &backward, &forward_names, &backward_names};
      // Forced pairs come before those that have to be chosen.
      for (const Keys* keys : kinds) MatchUnique(*keys);
      SpreadAgain(labels);
      SpreadAgain(names);
      MatchAmbiguous(exact, false);
      for (const Keys* keys : kinds) MatchAmbiguous(*keys, true);
      for (const Keys* keys : {&labels, &names}) {
        SpreadAgain(*keys);
        MatchAlongStreams(*keys);
      }
      MatchKernelsAnywhere(names);
    }
    matching_.streams = votes_.Settle();
    return std::move(matching_);
  }

 private:
  void VoteByName(const Ran& before_trace, const Ran& after_trace) {
    std::map<std::string_view, std::pair<std::vector<size_t>, std::vector<size_t>>> by_name;
    const auto collect = [&by_name](const Ran& trace, bool after) {
      for (size_t i = 0; i < trace.streams.size(); ++i) {
        auto& lists = by_name[trace[trace.streams[i].name]];
        (after ? lists.second : lists.first).push_back(i);
      }
    };
    collect(before_trace, false);
    collect(after_trace, true);
    for (const auto& [name, lists] : by_name) {
      if (name.empty() || lists.first.size() != 1 || lists.second.size() != 1) continue;
      votes_.Vote(StreamId(lists.first[0]), StreamId(lists.second[0]));
    }
  }

  void PairUp(uint32_t before, uint32_t after) {
    matching_.after[before] = after;
    matching_.before[after] = before;
    --free_before_;
    --free_after_;
    votes_.Vote(before_.streams[before], after_.streams[after]);
    work_.push_back({before, after});
  }

  // Those that are alone with their key on both sides.
  void PairUnique(const std::vector<Entry>& left, const std::vector<Entry>& right) {
    ForCommonKeys(left, right, [this](auto before, auto after) {
      if (before.size() == 1 && after.size() == 1) PairUp(before[0].node, after[0].node);
    });
  }

  void Spread(const Keys& keys) {
    while (!work_.empty()) {
      const auto [before, after] = work_.back();
      work_.pop_back();
      for (const bool by_stream : {false, true}) {
        SpreadTo(before_.Out(before), after_.Out(after), keys, by_stream);
        SpreadTo(before_.In(before), after_.In(after), keys, by_stream);
      }
    }
  }

  // From every pair that there is: the keys are others than last time.
  void SpreadAgain(const Keys& keys) {
    if (Done()) return;
    for (uint32_t node = 0; node < before_.size(); ++node) {
      if (matching_.after[node] != kUnmatched) work_.push_back({node, matching_.after[node]});
    }
    Spread(keys);
  }

  // Matches neighbours that are alone with their key on both sides.
  void SpreadTo(std::span<const Neighbour> before, std::span<const Neighbour> after,
                const Keys& keys, bool by_stream) {
    left_.clear();
    right_.clear();
    for (const Neighbour& neighbour : before) {
      if (matching_.after[neighbour.node] != kUnmatched) continue;
      uint64_t key = Mix(keys.before[neighbour.node], neighbour.data);
      const StreamId stream = before_.streams[neighbour.node];
      if (by_stream && !votes_.HasPartner(stream)) continue;
      if (by_stream) key = Mix(key, votes_.Partner(stream).value);
      left_.push_back({key, neighbour.node});
    }
    if (left_.empty()) return;
    for (const Neighbour& neighbour : after) {
      if (matching_.before[neighbour.node] != kUnmatched) continue;
      uint64_t key = Mix(keys.after[neighbour.node], neighbour.data);
      if (by_stream) key = Mix(key, after_.streams[neighbour.node].value);
      right_.push_back({key, neighbour.node});
    }
    std::ranges::sort(left_);
    std::ranges::sort(right_);
    PairUnique(left_, right_);
  }

  std::vector<Entry> FreeEntries(const std::vector<uint64_t>& keys,
                                 const std::vector<uint32_t>& partners) const {
    std::vector<Entry> entries;
    for (uint32_t node = 0; node < keys.size(); ++node) {
      if (partners[node] == kUnmatched) entries.push_back({keys[node], node});
    }
    std::ranges::sort(entries);
    return entries;
  }

  void MatchUnique(const Keys& keys) {
    if (Done()) return;
    PairUnique(FreeEntries(keys.before, matching_.after),
               FreeEntries(keys.after, matching_.before));
    SpreadAgain(keys);
  }

  // Where several have the same key, one pair is chosen, and what follows from it comes first.
  void MatchAmbiguous(const Keys& keys, bool even_counts) {
    if (Done()) return;
    const auto free_before = FreeEntries(keys.before, matching_.after);
    const auto free_after = FreeEntries(keys.after, matching_.before);
    ForCommonKeys(free_before, free_after, [&](auto left, auto right) {
      if (even_counts && left.size() != right.size()) return;
      Candidates candidates(right, after_, matching_.before);
      for (const Entry& entry : left) {
        if (matching_.after[entry.node] != kUnmatched) continue;
        const uint32_t after = candidates.Pick(before_.streams[entry.node], votes_);
        if (after == kUnmatched) return;
        PairUp(entry.node, after);
        Spread(keys);
      }
    });
  }

  // Streams that nothing matched on are taken for those that have most in common with them.
  void VoteByContent(const NodesOfStreams& on_before, const NodesOfStreams& on_after,
                     const Keys& keys) {
    for (const auto& [stream, nodes] : on_before) {
      if (votes_.HasPartner(stream)) continue;
      StreamId best;
      size_t best_common = 0;
      for (const auto& [other, other_nodes] : on_after) {
        if (votes_.Taken(other)) continue;
        const size_t common = CommonKeys(nodes, keys.before, other_nodes, keys.after);
        if (common <= best_common) continue;
        best_common = common;
        best = other;
      }
      if (best_common > 0) votes_.Vote(stream, best);
    }
  }

  void MatchAlongStreams(const Keys& keys) {
    if (Done()) return;
    const NodesOfStreams on_before = NodesByStream(before_), on_after = NodesByStream(after_);
    VoteByContent(on_before, on_after, keys);
    const StreamPartners partners = votes_.Settle();
    for (const auto& [stream, nodes] : on_before) {
      const std::optional<StreamId> partner = partners.Of(stream);
      if (!partner) continue;
      const auto others = on_after.find(*partner);
      if (others != on_after.end()) AlignStream(nodes, others->second, keys);
    }
    SpreadAgain(keys);
  }

  void AlignGap(std::span<const uint32_t> before, std::span<const uint32_t> after,
                const Keys& keys) {
    const auto free = [](std::span<const uint32_t> nodes, const std::vector<uint32_t>& partners) {
      std::vector<uint32_t> left;
      std::ranges::copy_if(nodes, std::back_inserter(left),
                           [&](uint32_t node) { return partners[node] == kUnmatched; });
      return left;
    };
    const std::vector<uint32_t> free_before = free(before, matching_.after);
    const std::vector<uint32_t> free_after = free(after, matching_.before);
    const auto a = KeysOf(free_before, keys.before), b = KeysOf(free_after, keys.after);
    for (const auto& [i, j] : CommonSubsequence(a, b)) PairUp(free_before[i], free_after[j]);
  }

  // Between matched nodes of a stream and its partner, what is free is aligned in capture order.
  //
  //     nodes    a0  a1 [a2 a3] a4 [a5]
  //     others   b0  b1 [b2]    b3 [b4 b5]      anchors a0-b0, a1-b1, a4-b3: gaps in brackets
  void AlignStream(std::span<const uint32_t> nodes, std::span<const uint32_t> others,
                   const Keys& keys) {
    std::vector<uint32_t> anchors, places;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const uint32_t partner = matching_.after[nodes[i]];
      const auto at = std::ranges::lower_bound(others, partner);
      if (partner == kUnmatched || at == others.end() || *at != partner) continue;
      anchors.push_back(i);
      places.push_back(static_cast<uint32_t>(at - others.begin()));
    }
    size_t from = 0, from_other = 0;
    const auto align_up_to = [&](size_t to, size_t to_other) {
      AlignGap(nodes.subspan(from, to - from), others.subspan(from_other, to_other - from_other),
               keys);
      from = to + 1;
      from_other = to_other + 1;
    };
    for (const uint32_t kept : LongestRising(places)) align_up_to(anchors[kept], places[kept]);
    align_up_to(nodes.size(), others.size());
  }

  // A kernel's name says enough to know it again elsewhere; "memset" doesn't.
  void MatchKernelsAnywhere(const Keys& names) {
    if (Done()) return;
    const auto named = [](std::vector<Entry> entries, const GraphView& view) {
      std::erase_if(entries, [&view](const Entry& entry) { return !view.is_kernel[entry.node]; });
      return entries;
    };
    PairUnique(named(FreeEntries(names.before, matching_.after), before_),
               named(FreeEntries(names.after, matching_.before), after_));
    Spread(names);
  }

  bool Done() const { return free_before_ == 0 || free_after_ == 0; }

  const GraphView& before_;
  const GraphView& after_;
  NodeMatching matching_;
  StreamVotes votes_;
  size_t free_before_ = before_.size(), free_after_ = after_.size();
  std::vector<std::pair<uint32_t, uint32_t>> work_;  // pairs whose neighbours weren't looked at
  std::vector<Entry> left_, right_;                  // scratch
};

}  // namespace

NodeMatching MatchNodes(const GraphView& before, const Ran& before_trace, const GraphView& after,
                        const Ran& after_trace) {
  return Matcher(before, before_trace, after, after_trace).Run();
}

}  // namespace graphkit
