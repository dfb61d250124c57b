#include "libgraphkit/analysis/memory/lower_bound.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "libgraphkit/analysis/memory/lanes.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// A clock that runs while its thread does: waiting, for the processor or for a disk, doesn't count,
// so that a time limit cuts off the same on a busy machine, or where memory is short.
std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The heaviest set of pairwise conflicting blocks among a few: a maximum-weight antichain, found as
// a maximum flow. Weighted Dilworth: the blocks' bytes less the most bytes that can be handed from
// a block to one that it is before, each byte of a block given and taken once.
//
//     source ─weight─► x ──► first birth after x in each lane ──► next birth ──► …
//                                        └─weight─► sink
//
// The memory that can't be handed on is the antichain, which is read off the minimum cut.

// Solves one set of blocks after another, reusing its memory.
class AntichainFlow {
 public:
  // Both must outlive it.
  AntichainFlow(const Lanes& lanes, const Exits& exits)
      : lanes_(lanes), exits_(exits), visible_(lanes.lanes()) {}

  // Takes items (ascending), and hands bytes on greedily in capture order. Returns the bytes that
  // had to be new: no less than the antichain's weight, and what an online allocator without
  // fragmentation would need.
  // With very many lanes it gives up at the deadline: then all bytes are new, and Solve() can't be
  // asked.
  Bytes Fluid(std::span<const uint32_t> items, std::chrono::nanoseconds deadline) {
    LayOut(items);
    const size_t count = items_.size();
    gave_up_ = !FindAllExits(deadline);
    if (gave_up_) return total_;
    exit_flow_.assign(exit_to_.size(), 0);
    given_.assign(count, 0);
    taken_.assign(count, 0);
    passed_.assign(count, 0);
    handed_ = 0;
    opens_.Assign(exit_to_.size(), count, [&](size_t exit) { return exit_to_[exit]; });
    for (const uint32_t lane : used_lanes_) visible_[lane].clear();
    for (uint32_t birth = 0; birth < count; ++birth) {
      std::vector<uint32_t>& visible = visible_[lanes_.lane(items_[birth])];
      const std::span<const uint32_t> opens = opens_.Of(birth);
      visible.insert(visible.end(), opens.begin(), opens.end());
      HandOn(birth, &visible);
    }
    return total_ - handed_;
  }

  bool gave_up() const { return gave_up_; }

  // Hands on as much as can be, from where Fluid() left off. Returns the antichain's weight and
  // puts its items into `antichain`; gives up with 0 once it can't weigh more than `enough`.
  Bytes Solve(Bytes enough, std::vector<uint32_t>* antichain) {
    BuildArcs();
    while (FindLevels()) {
      handed_ += Augment();
      if (total_ - handed_ <= enough) return 0;
    }
    antichain->clear();
    Bytes weight = 0;
    for (uint32_t x = 0; x < items_.size(); ++x) {
      const bool can_give = exit_first_[x] == exit_first_[x + 1] || level_[Supply(x)] != kNone;
      if (!can_give || level_[Birth(x)] != kNone) continue;
      antichain->push_back(items_[x]);
      weight += lanes_.weight(items_[x]);
    }
    return weight;
  }

 private:
  struct Arc {
    uint32_t to;
    Bytes residual;
  };
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max() / 4;
  static constexpr uint32_t kSource = 0;
  static constexpr uint32_t kSink = 1;

  uint32_t Supply(uint32_t local) const { return 2 + local; }
  uint32_t Birth(uint32_t local) const { return 2 + static_cast<uint32_t>(items_.size()) + local; }

  // Sorts the items into their lanes.
  void LayOut(std::span<const uint32_t> items) {
    items_.assign(items.begin(), items.end());
    births_.Assign(items_.size(), lanes_.lanes(),
                   [&](size_t local) { return lanes_.lane(items_[local]); });
    used_lanes_.clear();
    for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
      if (!births_.Of(lane).empty()) used_lanes_.push_back(lane);
    }
    total_ = 0;
    for (const uint32_t item : items_) total_ += lanes_.weight(item);
  }

  // False: past the deadline, which few lanes never are.
  bool FindAllExits(std::chrono::nanoseconds deadline) {
    constexpr size_t kFewLanes = 64;
    constexpr uint32_t kStep = 16;
    exit_first_.assign(1, 0);
    exit_to_.clear();
    exit_from_.clear();
    for (uint32_t local = 0; local < items_.size(); ++local) {
      const bool look = used_lanes_.size() > kFewLanes && local % kStep == 0;
      if (look && ThreadTime() > deadline) return false;
      FindExits(local);
      exit_first_.push_back(static_cast<uint32_t>(exit_to_.size()));
    }
    return true;
  }

  // For each lane, the first birth that x is before: all that follow are, too.
  void FindExits(uint32_t local) {
    const uint32_t x = items_[local];
    if (!lanes_.Dies(x)) return;
    const uint32_t last = items_.back();
    for (const uint32_t lane : used_lanes_) {
      const uint32_t exit = exits_.Of(x, lane);
      uint32_t birth = kNone;
      if (exit == Exits::kUnknown) {
        birth = SearchExit(local, lane);
      } else if (exit <= last) {
        const std::span<const uint32_t> births = births_.Of(lane);
        const auto found = std::ranges::partition_point(
            births, [&](uint32_t other) { return items_[other] < exit; });
        if (found != births.end()) birth = *found;
      }
      if (birth == kNone) continue;
      exit_to_.push_back(birth);
      exit_from_.push_back(local);
    }
  }

  uint32_t SearchExit(uint32_t local, uint32_t lane) const {
    const uint32_t x = items_[local];
    const std::span<const uint32_t> births = births_.Of(lane);
    auto from = births.begin();
    if (!lanes_.AnyOrder(x)) {
      if (births.back() <= local) return kNone;
      if (births.front() <= local) from = std::ranges::upper_bound(births, local);
    }
    if (!lanes_.Before(x, items_[births.back()])) return kNone;
    return *std::partition_point(from, births.end(),
                                 [&](uint32_t birth) { return !lanes_.Before(x, items_[birth]); });
  }

  // Gives bytes of exits that are open to a birth.
  void HandOn(uint32_t birth, std::vector<uint32_t>* visible) {
    const Bytes wanted = lanes_.weight(items_[birth]);
    while (taken_[birth] < wanted && !visible->empty()) {
      const uint32_t exit = visible->back();
      const uint32_t x = exit_from_[exit];
      const Bytes left = lanes_.weight(items_[x]) - given_[x];
      const Bytes bytes = std::min(left, wanted - taken_[birth]);
      given_[x] += bytes;
      taken_[birth] += bytes;
      exit_flow_[exit] += bytes;
      handed_ += bytes;
      // On its way through the lane; summed up in BuildArcs().
      passed_[exit_to_[exit]] += bytes;
      passed_[birth] -= bytes;
      if (bytes == left) visible->pop_back();
    }
  }

  void BuildArcs() {
    const auto count = static_cast<uint32_t>(items_.size());
    arcs_.clear();
    for (uint32_t x = 0; x < count; ++x) {
      const Bytes weight = lanes_.weight(items_[x]);
      if (exit_first_[x] != exit_first_[x + 1]) {
        AddArc(kSource, Supply(x), weight - given_[x], given_[x]);
      }
      for (uint32_t exit = exit_first_[x]; exit < exit_first_[x + 1]; ++exit)
        AddArc(Supply(x), Birth(exit_to_[exit]), kUnlimited, exit_flow_[exit]);
      AddArc(Birth(x), kSink, weight - taken_[x], taken_[x]);
    }
    for (const uint32_t lane : used_lanes_) {
      Bytes through = 0;
      const std::span<const uint32_t> births = births_.Of(lane);
      for (size_t at = 0; at + 1 < births.size(); ++at) {
        through += passed_[births[at]];
        AddArc(Birth(births[at]), Birth(births[at + 1]), kUnlimited, through);
      }
    }
    out_.Assign(arcs_.size(), 2 + 2 * count, [&](size_t arc) { return arcs_[arc ^ 1].to; });
  }

  void AddArc(uint32_t from, uint32_t to, Bytes forward, Bytes backward) {
    arcs_.push_back({to, forward});
    arcs_.push_back({from, backward});
  }

  // Distances from the source over arcs with room left. False: the sink is out of reach.
  bool FindLevels() {
    level_.assign(2 + 2 * items_.size(), kNone);
    level_[kSource] = 0;
    queue_.assign(1, kSource);
    for (size_t at = 0; at < queue_.size(); ++at) {
      const uint32_t node = queue_[at];
      for (const uint32_t out : out_.Of(node)) {
        const Arc& arc = arcs_[out];
        if (arc.residual == 0 || level_[arc.to] != kNone) continue;
        level_[arc.to] = level_[node] + 1;
        queue_.push_back(arc.to);
      }
    }
    return level_[kSink] != kNone;
  }

  // Pushes bytes along shortest paths until there is none left (Dinic), with an explicit path.
  Bytes Augment() {
    Bytes pushed = 0;
    next_.assign(out_.first.begin(), out_.first.end() - 1);
    std::vector<uint32_t>& path = queue_;  // arcs from the source
    path.clear();
    uint32_t node = kSource;
    while (true) {
      if (node == kSink) {
        Bytes room = kUnlimited;
        for (const uint32_t arc : path) room = std::min(room, arcs_[arc].residual);
        size_t first_full = path.size();
        for (size_t i = path.size(); i-- > 0;) {
          arcs_[path[i]].residual -= room;
          arcs_[path[i] ^ 1].residual += room;
          if (arcs_[path[i]].residual == 0) first_full = i;
        }
        pushed += room;
        node = arcs_[path[first_full] ^ 1].to;
        path.resize(first_full);
        continue;
      }
      uint32_t& next = next_[node];
      const auto leads_on = [&](const Arc& arc) {
        return arc.residual != 0 && level_[arc.to] == level_[node] + 1;
      };
      while (next < out_.first[node + 1] && !leads_on(arcs_[out_.items[next]])) ++next;
      if (next < out_.first[node + 1]) {
        path.push_back(out_.items[next]);
        node = arcs_[out_.items[next]].to;
        continue;
      }
      if (path.empty()) return pushed;
      level_[node] = kNone;
      node = arcs_[path.back() ^ 1].to;
      path.pop_back();
    }
  }

  const Lanes& lanes_;
  const Exits& exits_;
  std::vector<uint32_t> items_;  // local index → item
  Grouped births_;               // local indices, by lane
  std::vector<uint32_t> used_lanes_;
  // Exits of local x: exit_to_[exit_first_[x]…], the birth where a lane becomes free for x.
  std::vector<uint32_t> exit_first_;
  std::vector<uint32_t> exit_to_;
  std::vector<uint32_t> exit_from_;  // the x of each exit
  std::vector<Bytes> exit_flow_;
  std::vector<Bytes> given_;   // of each local x
  std::vector<Bytes> taken_;   // by each local birth
  std::vector<Bytes> passed_;  // from each birth to the next one in its lane
  Bytes total_ = 0;
  Bytes handed_ = 0;
  bool gave_up_ = false;

  std::vector<std::vector<uint32_t>> visible_;  // by lane: exits that have opened
  Grouped opens_;                               // by birth: exits

  std::vector<Arc> arcs_;  // pairs: an arc and its reverse
  Grouped out_;            // by node: arcs
  std::vector<uint32_t> level_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> queue_;
};

constexpr size_t kLanesTimed = 64;  // with more lanes than this, one step may take too long

struct Bounder {
  LowerBound FindBound() {
    bound.exact = lanes.left_out() == 0;
    FindUpperBounds();
    std::vector<uint32_t> highest(upper.size());
    std::iota(highest.begin(), highest.end(), 0);
    std::ranges::sort(highest, [&](uint32_t a, uint32_t b) { return upper[a] > upper[b]; });
    for (const uint32_t window : highest) {
      if (upper[window] <= bound.bytes) break;
      if (OutOfTime() && bound.bytes != 0) {
        bound.exact = false;
        break;
      }
      SolveWindow(window);
    }
    return std::move(bound);
  }

  bool OutOfTime() const { return ThreadTime() > deadline; }

  // One sweep in capture order: which items reach into which windows, and each window's greedy
  // bound. Where many items reach into a window it is larger, so that they aren't looked at often.
  void FindUpperBounds() {
    last_window.resize(lanes.size());
    for (uint32_t begin = 0; begin < lanes.size(); begin = ends.back()) {
      const size_t births = std::max({size_t{1}, options.window, active.size()});
      const auto end = static_cast<uint32_t>(std::min(lanes.size(), begin + births));
      for (uint32_t item = begin; item < end; ++item) active.push_back(item);
      upper.push_back(OutOfTime() ? Weight(active) : flow.Fluid(active, deadline));
      ends.push_back(end);
      const auto window = static_cast<uint32_t>(ends.size() - 1);
      for (const uint32_t item : active) last_window[item] = window;
      if (lanes.lanes() > kLanesTimed && OutOfTime()) {  // what is born later is left out
        bound.exact = bound.exact && end == lanes.size();
        break;
      }
      Retire(end);
    }
    constexpr size_t kRun = 1024;
    for (size_t first = 0; first < last_window.size(); first += kRun) {
      const auto begin = last_window.begin() + static_cast<ptrdiff_t>(first);
      const auto end =
          last_window.begin() + static_cast<ptrdiff_t>(std::min(first + kRun, lanes.size()));
      run_last.push_back(*std::max_element(begin, end));
    }
  }

  Bytes Weight(const std::vector<uint32_t>& items) const {
    return std::accumulate(items.begin(), items.end(), Bytes{0},
                           [&](Bytes sum, uint32_t item) { return sum + lanes.weight(item); });
  }

  // Drops the active items that are before every birth from `first` on.
  void Retire(uint32_t first) {
    coming.clear();
    for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
      const std::span<const uint32_t> births = lanes.births(lane);
      size_t& next = next_birth[lane];
      while (next < births.size() && births[next] < first) ++next;
      if (next < births.size()) coming.push_back(births[next]);
    }
    const bool many = coming.size() > kLanesTimed;
    constexpr size_t kStep = 16;
    size_t looked = 0;
    bool late = false;
    const auto leaves = [&](uint32_t item) {
      late = late || (many && looked++ % kStep == 0 && OutOfTime());
      if (late) return false;
      return std::ranges::all_of(coming, [&](uint32_t birth) { return exits.Before(item, birth); });
    };
    active.erase(std::remove_if(active.begin(), active.end(), leaves), active.end());
  }

  void SolveWindow(uint32_t window) {
    constexpr uint32_t kRun = 1024;
    active.clear();
    for (uint32_t item = 0; item < ends[window]; ++item) {
      if (item % kRun == 0 && run_last[item / kRun] < window) {
        item += kRun - 1;
        continue;
      }
      if (last_window[item] >= window) active.push_back(item);
    }
    if (flow.Fluid(active, deadline) <= bound.bytes) return;
    if (flow.gave_up()) KeepHeaviest();
    const Bytes bytes = flow.Solve(bound.bytes, &antichain);
    if (bytes <= bound.bytes) return;
    bound.bytes = bytes;
    bound.blocks.clear();
    for (const uint32_t item : antichain) bound.blocks.push_back(lanes.block(item));
  }

  // Of the active items, so many that they can be solved whatever the time.
  void KeepHeaviest() {
    constexpr size_t kSolved = 1024;
    bound.exact = false;
    if (active.size() > kSolved) {
      std::ranges::stable_sort(active, std::greater(),
                               [&](uint32_t item) { return lanes.weight(item); });
      active.resize(kSolved);
      std::ranges::sort(active);
    }
    flow.Fluid(active, std::chrono::nanoseconds::max());
  }

  const LowerBoundOptions& options;
  const Lanes lanes;
  const Exits exits{lanes};
  AntichainFlow flow{lanes, exits};
  std::chrono::nanoseconds deadline = ThreadTime() + options.time_limit;
  std::vector<uint32_t> last_window = {};  // by item: the last window that it reaches into
  std::vector<uint32_t> run_last = {};     // the same, the latest of each 1024 items
  std::vector<size_t> next_birth = std::vector<size_t>(lanes.lanes());  // by lane
  std::vector<uint32_t> coming = {};
  std::vector<uint32_t> active = {};
  std::vector<uint32_t> antichain = {};
  std::vector<Bytes> upper = {};    // by window
  std::vector<uint32_t> ends = {};  // by window: behind its last birth
  LowerBound bound = {};
};

}  // namespace

LowerBound FindLowerBound(const BlockOrder& order, std::span<const BlockId> blocks,
                          const LowerBoundOptions& options) {
  return Bounder{options, Lanes(order, blocks)}.FindBound();
}

}  // namespace graphkit
