#include "libgraphkit/alloc/recorded/recorded_lives.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

namespace graphkit {
namespace {

struct Key {
  Address address;
  Bytes size;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    return (k.address ^ (k.size << 17)) * 0x9e3779b97f4a7c15u;
  }
};

class Pairing {
 public:
  Pairing(const TorchSnapshot& snapshot, size_t device, const RecordedRanges& segments,
          uint32_t reading)
      : snapshot_(snapshot), device_(device), segments_(segments), reading_(reading) {}

  std::vector<RecordedLife> Run() {
    const Slice run = snapshot_.devices[device_];
    for (uint32_t i = 0; i < run.count; ++i) Take(snapshot_.events[run.first + i], i);
    for (const TorchSegment& segment : snapshot_.segments) {
      if (segment.device != static_cast<int32_t>(device_)) continue;
      for (uint32_t i = 0; i < segment.blocks.count; ++i)
        TakeFinal(segment, segment.blocks.first + i);
    }
    JoinLost();
    return std::move(lives_);
  }

 private:
  uint32_t Add(RecordedLife life) {
    lives_.push_back(life);
    return static_cast<uint32_t>(lives_.size() - 1);
  }

  void Take(const TorchEvent& event, uint32_t index) {
    const Key key{event.address, event.size};
    switch (event.action) {
      case TorchAction::kAlloc:
        live_[key] = Add({event.address, event.size, event.stream, index, {}, {}, {}, false});
        break;
      case TorchAction::kFreeRequested: {
        const auto at = live_.find(key);
        const uint32_t life =
            at != live_.end()
                ? at->second
                : Add({event.address, event.size, event.stream, {}, {}, {}, {}, false});
        if (at != live_.end()) live_.erase(at);
        lives_[life].free_requested = index;
        pending_[key] = life;
        break;
      }
      case TorchAction::kFreeCompleted: {
        const auto at = pending_.find(key);
        const uint32_t life =
            at != pending_.end()
                ? at->second
                : Add({event.address, event.size, event.stream, {}, {}, {}, {}, false});
        if (at != pending_.end()) pending_.erase(at);
        lives_[life].free_completed = index;
        break;
      }
      default:
        break;
    }
  }

  void TakeFinal(const TorchSegment& segment, uint32_t index) {
    const TorchBlock& block = snapshot_.blocks[index];
    if (block.state == TorchBlockState::kInactive) return;
    const Key key{block.address, block.requested_size};
    for (auto* open : {&live_, &pending_}) {
      const auto at = open->find(key);
      if (at == open->end()) continue;
      lives_[at->second].final_block = index;
      return;
    }
    Add({block.address, block.requested_size, segment.stream, {}, {}, {}, index, false});
  }

  // The allocation at a wrong address is the one that its own free, or its block at the end, lacks.
  void JoinLost() {
    const bool lacks_segments = std::ranges::any_of(lives_, [&](const RecordedLife& life) {
      return life.alloc && life.free_requested && Outside(life);
    });
    std::vector<uint32_t> candidates;  // by size
    for (uint32_t i = 0; i < lives_.size(); ++i) {
      if (!lives_[i].at_start() || (lacks_segments && Outside(lives_[i]))) continue;
      candidates.push_back(i);
    }
    by_address_.resize(lives_.size());
    std::iota(by_address_.begin(), by_address_.end(), 0u);
    std::ranges::sort(by_address_, {}, [&](uint32_t i) { return lives_[i].address; });
    const auto size_of = [&](uint32_t i) { return lives_[i].requested; };
    std::ranges::stable_sort(candidates, {}, size_of);
    std::vector<bool> gone(lives_.size());
    for (RecordedLife& life : lives_) {
      if (!life.lost() || (lacks_segments && Outside(life))) continue;
      const auto first = std::ranges::lower_bound(candidates, life.requested, {}, size_of);
      const auto last = std::ranges::upper_bound(candidates, life.requested, {}, size_of);
      const std::span<const uint32_t> same_size(first, last);
      const std::optional<uint32_t> end = LikelyEnd(life, same_size, gone);
      if (!end) continue;
      life.free_requested = lives_[*end].free_requested;
      life.free_completed = lives_[*end].free_completed;
      life.final_block = lives_[*end].final_block;
      life.repaired = true;
      gone[*end] = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < lives_.size(); ++i) {
      if (!gone[i]) lives_[kept++] = lives_[i];
    }
    lives_.resize(kept);
  }

  bool Outside(const RecordedLife& life) const {
    return RangeOf(segments_, life.address) == nullptr;
  }

  // The candidates that end after the life began, likeliest first: those that can't have been live
  // at the start, then the closest. The reading says which of them to take.
  std::optional<uint32_t> LikelyEnd(const RecordedLife& life, std::span<const uint32_t> candidates,
                                    const std::vector<bool>& gone) const {
    std::vector<std::pair<std::pair<bool, Bytes>, uint32_t>> ranked;
    for (const uint32_t i : candidates) {
      const RecordedLife& other = lives_[i];
      if (gone[i] || (other.free_requested && *other.free_requested < *life.alloc)) continue;
      const Bytes distance =
          std::max(life.address, other.address) - std::min(life.address, other.address);
      ranked.push_back({{!BornInside(other), distance}, i});
    }
    if (ranked.empty()) return std::nullopt;
    const auto nth = ranked.begin() + std::min<ptrdiff_t>(reading_, std::ssize(ranked) - 1);
    std::nth_element(ranked.begin(), nth, ranked.end());
    return nth->second;
  }

  // True if another block lay where this one did, earlier among the events.
  bool BornInside(const RecordedLife& life) const {
    auto at = std::ranges::lower_bound(by_address_, life.address, {},
                                       [&](uint32_t i) { return lives_[i].address; });
    for (; at != by_address_.end() && lives_[*at].address < life.address + life.requested; ++at) {
      const RecordedLife& other = lives_[*at];
      if (&other == &life) continue;
      const std::optional<uint32_t> seen = other.alloc ? other.alloc : other.free_requested;
      if (seen && (!life.free_requested || *seen < *life.free_requested)) return true;
    }
    return false;
  }

  const TorchSnapshot& snapshot_;
  size_t device_;
  const RecordedRanges& segments_;
  uint32_t reading_;
  std::vector<RecordedLife> lives_;
  std::vector<uint32_t> by_address_;
  std::unordered_map<Key, uint32_t, KeyHash> live_;
  std::unordered_map<Key, uint32_t, KeyHash> pending_;
};

}  // namespace

std::vector<RecordedLife> FindLives(const TorchSnapshot& snapshot, size_t device,
                                    const RecordedRanges& segments, uint32_t reading) {
  return Pairing(snapshot, device, segments, reading).Run();
}

}  // namespace graphkit
