#include "libgraphkit/alloc/plan/chain_cover.h"

#include <queue>

namespace graphkit {
namespace {

constexpr uint32_t kNoItem = 0xffffffffu;
// Most of the time an item that was freed not long ago can be taken from its follower.
constexpr uint32_t kWindow = 256;

class ChainCoverer {
 public:
  explicit ChainCoverer(const Lanes& lanes)
      : lanes_(lanes),
        place_(lanes.size()),
        follower_(lanes.size(), kNoItem),
        follows_(lanes.size(), kNoItem),
        seen_(lanes.size()),
        for_(lanes.size(), kNoItem),
        ready_(lanes.lanes()),
        hopeless_(lanes.lanes()),
        looked_(lanes.lanes()) {
    FindExits();
  }

  ChainCover Run() {
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (!TakeFree(item) && !Search(item, kWindow) && !Search(item, kNoItem)) GiveUp();
    }
    return Chains();
  }

 private:
  // By lane: who is before its births from here on.
  struct Exits {
    std::vector<uint32_t> first;  // per birth, and one more
    std::vector<uint32_t> items;
  };

  // Of one lane: what is before its next birth, followed or not.
  struct Ready {
    uint32_t births = 0;  // that were looked at
    std::priority_queue<uint32_t> items;
  };

  void FindExits() {
    for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
      const std::span<const uint32_t> births = lanes_.births(lane);
      for (uint32_t i = 0; i < births.size(); ++i) place_[births[i]] = i;
      exits_.push_back(ExitsOf(births));
    }
  }

  Exits ExitsOf(std::span<const uint32_t> births) const {
    std::vector<uint32_t> exit(lanes_.size(), kNoItem);
    Exits exits;
    exits.first.resize(births.size() + 1);
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (!lanes_.Dies(item)) continue;
      const auto at = std::ranges::partition_point(
          births, [&](uint32_t birth) { return !lanes_.Before(item, birth); });
      if (at == births.end()) continue;
      exit[item] = static_cast<uint32_t>(at - births.begin());
      ++exits.first[exit[item] + 1];
    }
    for (size_t i = 1; i < exits.first.size(); ++i) exits.first[i] += exits.first[i - 1];
    std::vector<uint32_t> next(exits.first.begin(), exits.first.end() - 1);
    exits.items.resize(exits.first.back());
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (exit[item] != kNoItem) exits.items[next[exit[item]]++] = item;
    }
    return exits;
  }

  void Link(uint32_t earlier, uint32_t later) {
    follower_[earlier] = later;
    follows_[later] = earlier;
  }

  // The latest of the items before this one that none follows.
  bool TakeFree(uint32_t item) {
    const uint32_t lane = lanes_.lane(item);
    const Exits& exits = exits_[lane];
    Ready& ready = ready_[lane];
    for (; ready.births <= place_[item]; ++ready.births) {
      for (uint32_t at = exits.first[ready.births]; at < exits.first[ready.births + 1]; ++at) {
        ready.items.push(exits.items[at]);
      }
    }
    while (!ready.items.empty()) {
      const uint32_t earlier = ready.items.top();
      ready.items.pop();
      if (follower_[earlier] != kNoItem) continue;
      Link(earlier, item);
      return true;
    }
    return false;
  }

  // Breadth first: what could follow what, until one has no follower. Only looks as many births
  // back; kNoItem: at all.
  bool Search(uint32_t item, uint32_t window) {
    ++round_;
    std::ranges::copy(hopeless_, looked_.begin());
    queue_.assign(1, item);
    for (size_t i = 0; i < queue_.size(); ++i) {
      const uint32_t later = queue_[i];
      const Exits& exits = exits_[lanes_.lane(later)];
      uint32_t& looked = looked_[lanes_.lane(later)];
      const uint32_t end = place_[later] + 1;
      uint32_t begin = looked;
      if (window != kNoItem && end > window) begin = std::max(begin, end - window);
      if (begin >= end) continue;
      looked = end;
      for (uint32_t at = exits.first[end]; at-- > exits.first[begin];) {
        const uint32_t earlier = exits.items[at];
        if (seen_[earlier] == round_ || earlier == later) continue;
        seen_[earlier] = round_;
        for_[earlier] = later;
        if (follower_[earlier] == kNoItem) {
          Turn(earlier);
          return true;
        }
        queue_.push_back(follower_[earlier]);
      }
    }
    return false;
  }

  // All on the way follow what they found.
  void Turn(uint32_t earlier) {
    while (earlier != kNoItem) {
      const uint32_t later = for_[earlier];
      const uint32_t before = follows_[later];
      Link(earlier, later);
      earlier = before;
    }
  }

  // The items looked at can't be taken: no search needs to look there again.
  void GiveUp() { std::ranges::copy(looked_, hopeless_.begin()); }

  ChainCover Chains() const {
    ChainCover cover;
    cover.chain.assign(lanes_.size(), kNoItem);
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (follows_[item] != kNoItem) continue;
      for (uint32_t at = item; at != kNoItem; at = follower_[at]) cover.chain[at] = cover.chains;
      ++cover.chains;
    }
    return cover;
  }

  const Lanes& lanes_;
  std::vector<Exits> exits_;                  // by lane
  std::vector<uint32_t> place_;               // by item: in its lane's births
  std::vector<uint32_t> follower_, follows_;  // by item
  std::vector<uint32_t> seen_;                // by item: in which round
  std::vector<uint32_t> for_;                 // by item that was seen: who would follow it
  std::vector<Ready> ready_;                  // by lane
  std::vector<uint32_t> hopeless_;            // by lane: births whose exits need not be looked at
  std::vector<uint32_t> looked_;              // by lane: in this round, up to here
  std::vector<uint32_t> queue_;
  uint32_t round_ = 0;
};

}  // namespace

ChainCover CoverByChains(const Lanes& lanes) { return ChainCoverer(lanes).Run(); }

}  // namespace graphkit
