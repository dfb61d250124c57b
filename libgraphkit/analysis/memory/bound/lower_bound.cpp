#include "libgraphkit/analysis/memory/bound/lower_bound.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "libgraphkit/analysis/memory/bound/antichain.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {
namespace {

constexpr size_t kLanesTimed = 64;  // with more lanes than this, one step may take too long

class Bounder {
 public:
  Bounder(const BlockOrder& order, std::span<const BlockId> blocks,
          const LowerBoundOptions& options)
      : lanes_(order, blocks),
        exits_(lanes_),
        flow_(lanes_, exits_),
        window_(std::max<size_t>(options.window, 1)),
        deadline_(ThreadClock::now() + options.time_limit),
        next_birth_(lanes_.lanes()) {}

  LowerBound FindBound(bool online) {
    bound_.exact = lanes_.left_out() == 0;
    if (online) bound_.online = FindOnlineFootprint(lanes_, exits_, deadline_);
    FindUpperBounds();
    std::vector<uint32_t> order(upper_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return upper_[a] > upper_[b]; });
    for (const uint32_t window : order) {
      if (upper_[window] <= bound_.bytes) break;
      if (OutOfTime() && bound_.bytes != 0) {
        bound_.exact = false;
        break;
      }
      SolveWindow(window);
    }
    return std::move(bound_);
  }

 private:
  bool OutOfTime() const { return ThreadClock::now() > deadline_; }

  // One sweep in capture order: which items reach into which windows, and each window's greedy
  // bound. Where many items reach into a window it is larger, so that they aren't looked at often.
  void FindUpperBounds() {
    last_window_.resize(lanes_.size());
    for (uint32_t begin = 0; begin < lanes_.size(); begin = ends_.back()) {
      const size_t births = std::max(window_, active_.size());
      const auto end = static_cast<uint32_t>(std::min(lanes_.size(), begin + births));
      for (uint32_t item = begin; item < end; ++item) active_.push_back(item);
      upper_.push_back(OutOfTime() ? Weight(active_) : flow_.Fluid(active_, deadline_));
      ends_.push_back(end);
      const auto window = static_cast<uint32_t>(ends_.size() - 1);
      for (const uint32_t item : active_) last_window_[item] = window;
      if (lanes_.lanes() > kLanesTimed && OutOfTime()) {  // what is born later is left out
        bound_.exact = bound_.exact && end == lanes_.size();
        break;
      }
      Retire(end);
    }
    constexpr size_t kRun = 1024;
    for (size_t first = 0; first < last_window_.size(); first += kRun) {
      const auto begin = last_window_.begin() + static_cast<ptrdiff_t>(first);
      const auto end =
          last_window_.begin() + static_cast<ptrdiff_t>(std::min(first + kRun, lanes_.size()));
      run_last_.push_back(*std::max_element(begin, end));
    }
  }

  Bytes Weight(const std::vector<uint32_t>& items) const {
    return std::accumulate(items.begin(), items.end(), Bytes{0},
                           [&](Bytes sum, uint32_t item) { return sum + lanes_.weight(item); });
  }

  // Drops the active items that are before every birth from `first` on.
  void Retire(uint32_t first) {
    coming_.clear();
    for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
      const std::span<const uint32_t> births = lanes_.births(lane);
      size_t& next = next_birth_[lane];
      while (next < births.size() && births[next] < first) ++next;
      if (next < births.size()) coming_.push_back(births[next]);
    }
    const bool many = coming_.size() > kLanesTimed;
    constexpr size_t kStep = 16;
    size_t looked = 0;
    bool late = false;
    const auto leaves = [&](uint32_t item) {
      late = late || (many && looked++ % kStep == 0 && OutOfTime());
      if (late) return false;
      return std::ranges::all_of(coming_,
                                 [&](uint32_t birth) { return exits_.Before(item, birth); });
    };
    active_.erase(std::remove_if(active_.begin(), active_.end(), leaves), active_.end());
  }

  void SolveWindow(uint32_t window) {
    constexpr uint32_t kRun = 1024;
    active_.clear();
    const uint32_t end = ends_[window];
    for (uint32_t item = 0; item < end; ++item) {
      if (item % kRun == 0 && run_last_[item / kRun] < window) {
        item += kRun - 1;
        continue;
      }
      if (last_window_[item] >= window) active_.push_back(item);
    }
    if (flow_.Fluid(active_, deadline_) <= bound_.bytes) return;
    if (flow_.gave_up()) KeepHeaviest();
    const Bytes bytes = flow_.Solve(bound_.bytes, &antichain_);
    if (bytes <= bound_.bytes) return;
    bound_.bytes = bytes;
    bound_.blocks.clear();
    for (const uint32_t item : antichain_) bound_.blocks.push_back(lanes_.block(item));
  }

  // Of the active items, so many that they can be solved whatever the time.
  void KeepHeaviest() {
    constexpr size_t kSolved = 1024;
    bound_.exact = false;
    if (active_.size() > kSolved) {
      std::ranges::stable_sort(active_, std::greater(),
                               [&](uint32_t item) { return lanes_.weight(item); });
      active_.resize(kSolved);
      std::ranges::sort(active_);
    }
    flow_.Fluid(active_, ThreadClock::time_point::max());
  }

  Lanes lanes_;
  Exits exits_;
  AntichainFlow flow_;
  size_t window_;
  ThreadClock::time_point deadline_;
  std::vector<uint32_t> last_window_;  // by item: the last window that it reaches into
  std::vector<uint32_t> run_last_;     // the same, the latest of each 1024 items
  std::vector<size_t> next_birth_;     // by lane
  std::vector<uint32_t> coming_;
  std::vector<uint32_t> active_;
  std::vector<uint32_t> antichain_;
  std::vector<Bytes> upper_;    // by window
  std::vector<uint32_t> ends_;  // by window: behind its last birth
  LowerBound bound_;
};

}  // namespace

LowerBound FindLowerBound(const BlockOrder& order, std::span<const BlockId> blocks,
                          const LowerBoundOptions& options) {
  return Bounder(order, blocks, options).FindBound(options.online);
}

}  // namespace graphkit
