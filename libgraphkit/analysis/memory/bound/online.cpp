#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/bound/lower_bound.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

constexpr size_t kMostSeen = size_t{1} << 25;  // blocks by lanes; more would take too much memory

// Freed blocks as they are named here: by their place in the row of all frees.
using Free = uint32_t;

// Freed blocks of which bytes may be left, as the mallocs of one lane see them.
struct Offer {
  std::priority_queue<Free> open;  // freed last first
  // By the birth that they come before.
  std::priority_queue<std::pair<uint32_t, Free>, std::vector<std::pair<uint32_t, Free>>,
                      std::greater<>>
      waiting;
  size_t seen = 0;  // of the frees that are looked at
};
class Sweep {
 public:
  Sweep(const Lanes& lanes, const Exits& exits, ThreadClock::time_point deadline)
      : lanes_(lanes), exits_(exits), trace_(lanes.trace()), deadline_(deadline) {
    frees_ = SortBySeq(lanes.size(), [&](size_t item) {
      return lanes_.Dies(static_cast<uint32_t>(item)) ? FreedAt(static_cast<uint32_t>(item))
                                                      : kNever;
    });
    left_.reserve(frees_.size());
    for (const uint32_t item : frees_) left_.push_back(lanes_.weight(item));
    of_stream_.Assign(frees_.size(), trace_.streams.size() + 1,
                      [&](size_t free) { return StreamOf(frees_[free]); });
    all_.resize(lanes.lanes());
  }

  std::optional<Bytes> FreshBytes() {
    const uint32_t run = lanes_.lanes() > 64 ? 16 : 1024;
    Bytes fresh = 0;
    for (uint32_t birth = 0; birth < lanes_.size(); ++birth) {
      if (birth % run == 0 && (ThreadClock::now() > deadline_ || seen_ > kMostSeen)) {
        return std::nullopt;
      }
      fresh += Malloc(birth);
    }
    return fresh;
  }

 private:
  Seq FreedAt(uint32_t item) const { return trace_[lanes_.block(item)].free_requested; }
  size_t StreamOf(uint32_t item) const {
    return std::min<size_t>(trace_[lanes_.block(item)].stream.index(), trace_.streams.size());
  }

  // Returns what has to be fresh.
  Bytes Malloc(uint32_t birth) {
    TakeFrees(trace_[lanes_.block(birth)].allocated);
    const uint32_t lane = lanes_.lane(birth);
    Offer& own = own_[uint64_t{lane} << 32 | StreamOf(birth)];
    const std::span<const Free> frees = of_stream_.Of(StreamOf(birth));
    for (; own.seen < frees.size() && frees[own.seen] < freed_; ++own.seen) {
      See(frees[own.seen], birth, &own);
    }
    Bytes wanted = TakeOver(birth, lanes_.weight(birth), &own);
    if (wanted == 0) return 0;
    SeeAll(birth, &all_[lane]);
    return TakeOver(birth, wanted, &all_[lane]);
  }

  void TakeFrees(Seq now) {
    for (; freed_ < frees_.size() && FreedAt(frees_[freed_]) < now; ++freed_) {
      idle_.push_back(static_cast<Free>(freed_));
    }
  }

  // Of the malloc's own stream nothing is left by now.
  void SeeAll(uint32_t birth, Offer* offer) {
    constexpr size_t kFew = 64;
    if (idle_.size() > 2 * kept_ + kFew) {
      std::erase_if(idle_, [&](Free free) { return left_[free] == 0; });
      kept_ = idle_.size();
    }
    auto free = std::ranges::lower_bound(idle_, offer->seen);
    for (; free != idle_.end(); ++free) See(*free, birth, offer);
    offer->seen = freed_;
  }

  void See(Free free, uint32_t birth, Offer* offer) {
    if (left_[free] == 0) return;
    ++seen_;
    const uint32_t opens = OpensAt(frees_[free], birth);
    if (opens == Exits::kNever) return;
    if (opens <= birth) {
      offer->open.push(free);
    } else {
      offer->waiting.emplace(opens, free);
    }
  }

  // The first of the lane's births, from this one on, that a block is before.
  uint32_t OpensAt(uint32_t item, uint32_t birth) const {
    const uint32_t exit = exits_.Of(item, lanes_.lane(birth));
    if (exit != Exits::kUnknown) return exit;
    if (lanes_.Before(item, birth)) return birth;
    const std::span<const uint32_t> births = lanes_.births(lanes_.lane(birth));
    if (!lanes_.Before(item, births.back())) return Exits::kNever;
    return *std::partition_point(std::ranges::upper_bound(births, birth), births.end(),
                                 [&](uint32_t later) { return !lanes_.Before(item, later); });
  }

  // Returns what is wanted beyond what there is.
  Bytes TakeOver(uint32_t birth, Bytes wanted, Offer* offer) {
    for (; !offer->waiting.empty() && offer->waiting.top().first <= birth; offer->waiting.pop()) {
      offer->open.push(offer->waiting.top().second);
    }
    while (wanted > 0 && !offer->open.empty()) {
      Bytes& left = left_[offer->open.top()];
      const Bytes bytes = std::min(left, wanted);
      left -= bytes;
      wanted -= bytes;
      if (left > 0) break;
      offer->open.pop();
    }
    return wanted;
  }

  const Lanes& lanes_;
  const Exits& exits_;
  const Trace& trace_;
  ThreadClock::time_point deadline_;
  std::vector<uint32_t> frees_;              // items, in the order of their frees
  std::vector<Bytes> left_;                  // of each of them
  size_t freed_ = 0;                         // how many are freed at the malloc at hand
  Grouped of_stream_;                        // the last of blocks without a stream
  std::vector<Free> idle_;                   // all with bytes left, and some without
  size_t seen_ = 0;                          // blocks, by a lane
  size_t kept_ = 0;                          // of them, when the others were last dropped
  std::vector<Offer> all_;                   // by lane
  std::unordered_map<uint64_t, Offer> own_;  // by lane and stream: of that stream
};

}  // namespace

std::optional<Bytes> FindOnlineFootprint(const Lanes& lanes, const Exits& exits,
                                         ThreadClock::time_point deadline) {
  if (const auto fresh = Sweep(lanes, exits, deadline).FreshBytes()) {
    return *fresh + lanes.left_out_bytes();
  }
  return std::nullopt;
}

}  // namespace graphkit
