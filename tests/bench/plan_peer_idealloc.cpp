// idealloc's heuristic, after Lamprakos et al., "Futureproof Static Memory Planning" (2025), and
// the boxing that it rests on: Buchsbaum et al., "OPT versus LOAD in Dynamic Storage Allocation"
// (2003).
//
// Blocks of about the same size are put into boxes that are as high as some of them and last from
// the first one's begin to the last one's end:
//
//     | a | b |  c |       a box, three blocks high, of blocks that live at one critical point
//     |   d   | e  |
//     |  f  |   g  |
//
// Small boxes go into larger ones, until all have one height. Those are coloured as an interval
// graph, which gives each block a loose offset, and blocks are placed first fit in that order. The
// critical points are random: the best of some rounds counts, and of first fit by size.
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/random.h"
#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

using Time = int64_t;
using Items = std::vector<uint32_t>;  // numbers of blocks and boxes
using Points = std::set<Time>;

constexpr int kRounds = 10;
constexpr double kLeastRatio = 2216.54;  // of the sizes, so that the range of epsilon isn't empty
constexpr int kTries = 3;                // of epsilon, without a smaller ratio
constexpr double kEpsilonStep = 0.01;
const double kMostMu = (std::sqrt(5.0) - 1) / 2;

// A block, or a box of others. Times are even, so that there is one inside of each life.
struct Box {
  Time birth = 0;
  Time death = 0;
  Bytes size = 0;
  Items contents = {};

  bool LiveAt(Time time) const { return birth < time && time < death; }
};

class Boxing {
 public:
  // Blocks keep their numbers.
  Boxing(const PeerProblem& peer, uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < peer.problem.blocks.size(); ++i) {
      const Lifetime& life = peer.problem.lifetimes[i];
      boxes_.push_back({2 * life.begin, 2 * life.end, peer.problem.blocks[i].size});
    }
    blocks_ = Items(boxes_.size());
    std::iota(blocks_.begin(), blocks_.end(), 0u);
    EnsureRange();
    FindEpsilon();
  }

  // By block, where one more round of boxing puts it.
  std::vector<Bytes> Round() {
    boxes_.resize(blocks_.size());
    const Items begun = BoxSmall(blocks_, epsilon_);
    const double mu = std::min(epsilon_ / LogRatio(begun), 0.99 * kMostMu);
    const double height = static_cast<double>(Largest(blocks_)) / mu;
    const Items boxed = BoxBySize(begun, height, mu);
    loose_.assign(boxes_.size(), 0);
    Loosen(boxed, 0);
    return loose_;
  }

 private:
  Bytes Smallest(const Items& items) const {
    return boxes_[*std::ranges::min_element(items, {}, [&](uint32_t i) { return boxes_[i].size; })]
        .size;
  }
  Bytes Largest(const Items& items) const {
    return boxes_[*std::ranges::max_element(items, {}, [&](uint32_t i) { return boxes_[i].size; })]
        .size;
  }
  double Ratio(const Items& items) const {
    return static_cast<double>(Largest(items)) / static_cast<double>(Smallest(items));
  }
  double LogRatio(const Items& items) const { return std::pow(std::log2(Ratio(items)), 2); }
  double LeastEpsilon(const Items& items) const {
    return std::pow(std::pow(LogRatio(items), 7) / Ratio(items), 1.0 / 6);
  }

  // Adds a block that lives all the time where sizes are too much alike.
  void EnsureRange() {
    if (LeastEpsilon(blocks_) < kMostMu * LogRatio(blocks_)) return;
    Box all{boxes_[0].birth, boxes_[0].death,
            static_cast<Bytes>(kLeastRatio * static_cast<double>(Smallest(blocks_))) + 1};
    for (const Box& box : boxes_) {
      all.birth = std::min(all.birth, box.birth);
      all.death = std::max(all.death, box.death);
    }
    blocks_.push_back(static_cast<uint32_t>(boxes_.size()));
    boxes_.push_back(all);
  }

  // The one that leaves sizes most alike when small blocks are in boxes.
  void FindEpsilon() {
    double epsilon = epsilon_ = LeastEpsilon(blocks_);
    const double most = kMostMu * LogRatio(blocks_);
    double least = std::numeric_limits<double>::infinity();
    for (int tries = kTries; tries > 0; epsilon += (most - epsilon) * kEpsilonStep) {
      boxes_.resize(blocks_.size());
      const double ratio = Ratio(BoxSmall(blocks_, epsilon));
      --tries;
      if (ratio >= least) continue;
      least = ratio;
      epsilon_ = epsilon;
      tries = kTries;
    }
  }

  // Small ones in boxes, again and again, as long as epsilon allows (after Theorem 16).
  Items BoxSmall(Items items, double epsilon) {
    for (;;) {
      const double mu = epsilon / LogRatio(items);
      const double height =
          std::ceil(std::pow(mu, 5) * static_cast<double>(Largest(items)) / LogRatio(items));
      const double small = std::floor(mu * height);
      if (!(mu < kMostMu) || small < static_cast<double>(Smallest(items))) return items;
      const auto large = std::ranges::stable_partition(
          items, [&](uint32_t i) { return static_cast<double>(boxes_[i].size) <= small; });
      Items rest(large.begin(), large.end());
      items.erase(large.begin(), large.end());
      const Items boxed = BoxBySize(items, height, mu);
      rest.insert(rest.end(), boxed.begin(), boxed.end());
      items = std::move(rest);
    }
  }

  // Sizes rounded up to powers of 1 + epsilon, each by itself (Corollary 15).
  Items BoxBySize(const Items& items, double height, double epsilon) {
    std::map<int, Items> by_power;
    for (const uint32_t i : items) {
      const double power = std::log(static_cast<double>(boxes_[i].size)) / std::log1p(epsilon);
      by_power[static_cast<int>(std::ceil(power))].push_back(i);
    }
    Items boxed;
    for (const auto& [power, alike] : by_power) {
      const auto fit = static_cast<uint64_t>(height / static_cast<double>(Largest(alike)));
      const auto [birth, death] = Span(alike);
      const Points points = {birth, death, PointWithin(alike, birth, death)};
      BoxAlike(alike, points, {std::max<uint64_t>(fit, 1), static_cast<Bytes>(height), epsilon},
               &boxed);
    }
    return boxed;
  }

  std::pair<Time, Time> Span(const Items& items) const {
    std::pair<Time, Time> span{boxes_[items[0]].birth, boxes_[items[0]].death};
    for (const uint32_t i : items) {
      span.first = std::min(span.first, boxes_[i].birth);
      span.second = std::max(span.second, boxes_[i].death);
    }
    return span;
  }

  // At random, with one of them alive.
  Time PointWithin(const Items& items, Time begin, Time end) {
    const Box& box = boxes_[items[random_.Below(items.size())]];
    const Time point = random_.Below(2) == 0 ? box.birth + 1 : box.death - 1;
    return std::clamp(point, begin + 1, end - 1);
  }

  struct Shape {
    uint64_t fit;  // so many lie in a box, one above the other
    Bytes height;
    double epsilon;
  };

  uint32_t MakeBox(Items contents, Bytes height) {
    const auto [birth, death] = Span(contents);
    boxes_.push_back({birth, death, height, std::move(contents)});
    return static_cast<uint32_t>(boxes_.size() - 1);
  }

  // Those that live at a critical point are put into boxes, the others between two points by
  // themselves, with the gaps that the boxes left as further points (Theorem 2).
  void BoxAlike(const Items& items, const Points& points, const Shape& shape, Items* boxed) {
    const std::vector<Time> times(points.begin(), points.end());
    Items live;
    std::map<size_t, Items> between;
    for (const uint32_t i : items) {
      const auto next = std::ranges::upper_bound(times, boxes_[i].birth);
      const bool met = next != times.end() && boxes_[i].LiveAt(*next);
      if (met) live.push_back(i);
      if (!met) between[static_cast<size_t>(next - times.begin()) - 1].push_back(i);
    }
    Items open;
    CutStrips(std::move(live), std::span(times).subspan(1, times.size() - 2), shape, boxed, &open);
    Points gaps;
    Items stack;
    uint64_t rows = 0;
    for (const Items& row : Rows(open)) {
      AddGaps(row, times.front(), times.back(), &gaps);
      stack.insert(stack.end(), row.begin(), row.end());
      if (++rows % shape.fit == 0)
        boxed->push_back(MakeBox(std::exchange(stack, {}), shape.height));
    }
    if (!stack.empty()) boxed->push_back(MakeBox(std::move(stack), shape.height));
    for (const auto& [at, inside] : between) {
      const Time begin = times[at], end = times[at + 1];
      Points own(gaps.upper_bound(begin), gaps.lower_bound(end));
      const bool some = std::ranges::any_of(own, [&](Time time) {
        return std::ranges::any_of(inside, [&](uint32_t i) { return boxes_[i].LiveAt(time); });
      });
      if (!some) own.insert(PointWithin(inside, begin, end));
      own.insert({begin, end});
      BoxAlike(inside, own, shape, boxed);
    }
  }

  // Groups that live at one point, from the middle point outwards.
  void CutStrips(Items live, std::span<const Time> times, const Shape& shape, Items* boxed,
                 Items* open) {
    if (live.empty()) return;
    const size_t middle = times.size() / 2;
    Items now, before, after;
    for (const uint32_t i : live) {
      const bool alive = boxes_[i].LiveAt(times[middle]);
      (alive ? now : boxes_[i].death <= times[middle] ? before : after).push_back(i);
    }
    BoxStrips(std::move(now), shape, boxed, open);
    CutStrips(std::move(before), times.first(middle), shape, boxed, open);
    CutStrips(std::move(after), times.subspan(middle + 1), shape, boxed, open);
  }

  // The first to begin and the last to end stay open; of the others strips of the same kinds, in
  // turn, are put into boxes with those next to them (Lemma 1).
  void BoxStrips(Items items, const Shape& shape, Items* boxed, Items* open) {
    const auto times = [&](double part) {
      return shape.fit * static_cast<uint64_t>(std::ceil(std::min(1 / part, 1e6)));
    };
    const uint64_t outer = times(shape.epsilon * shape.epsilon), inner = times(shape.epsilon);
    if (items.size() <= 2 * outer) {
      open->insert(open->end(), items.begin(), items.end());
      return;
    }
    for (const bool begins : {true, false}) {
      const Items strip = TakeStrip(begins, outer, &items);
      open->insert(open->end(), strip.begin(), strip.end());
    }
    for (bool begins = true; !items.empty(); begins = !begins) {
      Items strip = TakeStrip(begins, inner, &items);
      SortStrip(!begins, &strip);
      for (size_t at = 0; at < strip.size(); at += shape.fit) {
        const size_t end = std::min<size_t>(strip.size(), at + shape.fit);
        const auto first = strip.begin();
        boxed->push_back(
            MakeBox({first + static_cast<ptrdiff_t>(at), first + static_cast<ptrdiff_t>(end)},
                    shape.height));
      }
    }
  }

  // The first to begin, or the last to end, come last.
  void SortStrip(bool begins, Items* items) const {
    std::ranges::stable_sort(*items, std::greater<>(), [&](uint32_t i) {
      return begins ? boxes_[i].birth : -boxes_[i].death;
    });
  }
  Items TakeStrip(bool begins, uint64_t most, Items* items) const {
    SortStrip(begins, items);
    const auto first =
        items->end() - static_cast<ptrdiff_t>(std::min<uint64_t>(most, items->size()));
    Items strip(first, items->end());
    items->erase(first, items->end());
    return strip;
  }

  // As few rows as can be, of items that don't overlap.
  std::vector<Items> Rows(const Items& items) const {
    std::vector<Items> rows;
    std::set<std::pair<Time, size_t>> busy;  // until when
    std::set<size_t> free;
    Items by_birth = items;
    std::ranges::stable_sort(by_birth, {}, [&](uint32_t i) { return boxes_[i].birth; });
    for (const uint32_t i : by_birth) {
      for (; !busy.empty() && busy.begin()->first <= boxes_[i].birth; busy.erase(busy.begin()))
        free.insert(busy.begin()->second);
      if (free.empty()) {
        free.insert(rows.size());
        rows.emplace_back();
      }
      const size_t row = *free.begin();
      free.erase(free.begin());
      rows[row].push_back(i);
      busy.insert({boxes_[i].death, row});
    }
    return rows;
  }

  void AddGaps(const Items& row, Time begin, Time end, Points* gaps) const {
    for (const uint32_t i : row) {
      if (begin < boxes_[i].birth) gaps->insert({begin, boxes_[i].birth});
      begin = boxes_[i].death;
    }
    if (begin < end) gaps->insert(begin);
  }

  // The offsets of what lies in boxes: items of one size in rows, size after size.
  void Loosen(const Items& items, Bytes offset) {
    std::map<Bytes, Items> by_size;
    for (const uint32_t i : items) by_size[boxes_[i].size].push_back(i);
    const bool apart = Rows(items).size() == 1;
    for (const auto& [size, alike] : by_size) {
      for (const Items& row : Rows(alike)) {
        for (const uint32_t i : row) {
          loose_[i] = offset;
          if (!boxes_[i].contents.empty()) Loosen(boxes_[i].contents, offset);
        }
        if (!apart) offset += size;
      }
    }
  }

  Random random_;
  std::vector<Box> boxes_;  // the blocks first
  Items blocks_;
  double epsilon_ = 0;
  std::vector<Bytes> loose_;
};

// The most bytes that live at once: no plan is smaller.
Bytes Load(const LifetimeProblem& problem) {
  std::map<int64_t, int64_t> changes;
  for (size_t i = 0; i < problem.blocks.size(); ++i) {
    changes[problem.lifetimes[i].begin] += static_cast<int64_t>(problem.blocks[i].size);
    changes[problem.lifetimes[i].end] -= static_cast<int64_t>(problem.blocks[i].size);
  }
  int64_t load = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, load += change);
  return static_cast<Bytes>(most);
}

}  // namespace

Offsets Idealloc(const PeerProblem& peer) {
  const auto size = [&](uint32_t block) { return peer.problem.blocks[block].size; };
  const auto length = [&](uint32_t block) {
    return peer.problem.lifetimes[block].end - peer.problem.lifetimes[block].begin;
  };
  const auto larger = [&](uint32_t a, uint32_t b) {
    return std::tuple(size(a), length(a)) > std::tuple(size(b), length(b));
  };
  Offsets best = PlaceEach(peer, larger, FirstGap);
  const Bytes load = Load(peer.problem);
  std::optional<Boxing> boxing;
  for (int round = 0; round < kRounds && PeakOf(peer, best) > load; ++round) {
    if (!boxing) boxing.emplace(peer, 1);
    const std::vector<Bytes> loose = boxing->Round();
    const auto tighter = [&](uint32_t a, uint32_t b) { return loose[a] < loose[b]; };
    Offsets next = PlaceEach(peer, tighter, FirstGap);
    if (PeakOf(peer, next) < PeakOf(peer, best)) best = std::move(next);
  }
  return best;
}

}  // namespace graphkit
