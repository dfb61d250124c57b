#include "libgraphkit/alloc/chunks/indexed_map.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <vector>

#include "tests/alloc/slow_piece_map.h"

namespace graphkit {
namespace {

constexpr uint32_t kViews = 5;
constexpr Bytes kUnit = 512;

// One stretch of memory, unit by unit: whose it was, and who may take it.
class Units {
 public:
  Bytes Place(BlockId block, size_t size, uint32_t view) {
    size_t best = units_.size();
    size_t best_size = ~size_t{0};
    size_t run = 0;  // where the one at hand began
    for (size_t i = 0; i <= units_.size(); ++i) {
      if (i < units_.size() && units_[i].views >> view & 1) continue;
      if (i - run >= size && i - run < best_size) {
        best = run;
        best_size = i - run;
      }
      if (i == units_.size() && best_size == ~size_t{0}) best = run;
      run = i + 1;
    }
    if (best + size > units_.size()) units_.resize(best + size);
    for (size_t i = best; i < best + size; ++i) units_[i] = {block, 0};
    return best * kUnit;
  }
  void Show(BlockId block, uint32_t view) {
    for (Unit& unit : units_) {
      if (unit.last == block) unit.views |= uint64_t{1} << view;
    }
  }
  Bytes reserved() const { return units_.size() * kUnit; }

 private:
  struct Unit {
    BlockId last;
    uint64_t views = 0;
  };
  std::vector<Unit> units_;
};

struct Step {
  bool place;
  BlockId block;
  uint32_t view;
  size_t size = 0;  // in units
};

// Blocks are shown to one view after the other, in any order, some of them to few.
std::vector<Step> RandomSteps(unsigned seed, size_t steps) {
  std::mt19937_64 random(seed);
  std::vector<Step> out;
  std::vector<BlockId> live;
  uint32_t blocks = 0;
  while (out.size() < steps) {
    const auto view = static_cast<uint32_t>(random() % kViews);
    if (live.empty() || random() % 5 == 0) {
      out.push_back({true, BlockId(blocks), view, 1 + random() % 20});
      live.push_back(BlockId(blocks++));
      continue;
    }
    const size_t at = random() % live.size();
    out.push_back({false, live[at], view});
    if (random() % 8 != 0) continue;
    live[at] = live.back();
    live.pop_back();
  }
  return out;
}

TEST_CASE("blocks go where a look at every byte puts them") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Units units;
    IndexedMap map({.config = {}, .views = kViews, .shared = true}, 3000);
    CAPTURE(seed);
    for (const Step& step : RandomSteps(seed, 3000)) {
      if (!step.place) {
        units.Show(step.block, step.view);
        map.Show(step.block, step.view);
        continue;
      }
      REQUIRE(map.Place(step.block, step.size * kUnit, step.view) ==
              units.Place(step.block, step.size, step.view));
      REQUIRE(map.reserved() == units.reserved());
    }
  }
}

TEST_CASE("with segments, too, the index finds what a look at every piece finds") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    IndexedMap map({.config = CachingConfig{}, .views = kViews, .shared = true}, 3000);
    IndexedMap by_rule({.config = CachingConfig{}}, 3000);
    PieceMap slow{CachingConfig{}};
    std::vector<uint64_t> shown(3000);  // by block: to which views
    CAPTURE(seed);
    for (const Step& step : RandomSteps(seed, 3000)) {
      if (!step.place) {
        map.Show(step.block, step.view);
        shown[step.block.index()] |= uint64_t{1} << step.view;
        continue;
      }
      const auto may_take = [&](BlockId last, StreamId) {
        return !last.valid() || (shown[last.index()] >> step.view & 1) != 0;
      };
      const Bytes size = step.size * step.size * step.size * 8 * kUnit;
      REQUIRE(by_rule.Fits(size, may_take) == slow.Fits(size, may_take));
      const Bytes offset = slow.Place(step.block, size, {}, may_take);
      REQUIRE(map.Place(step.block, size, step.view) == offset);
      REQUIRE(by_rule.Place(step.block, size, {}, may_take) == offset);
      REQUIRE(map.reserved() == slow.reserved());
      REQUIRE(by_rule.reserved() == slow.reserved());
    }
  }
}

// Each stream has a view of its own, more of them than a word has bits.
TEST_CASE("memory that stays with its stream goes where a look at every piece puts it") {
  constexpr uint32_t kStreams = 150;
  size_t reused = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    for (const bool segments : {false, true}) {
      CAPTURE(seed);
      const auto config = segments ? std::optional<CachingConfig>(CachingConfig{}) : std::nullopt;
      IndexedMap map({.config = config, .views = kStreams}, 3000);
      IndexedMap by_rule({.config = config}, 3000);
      PieceMap slow{config};
      std::mt19937_64 random(seed);
      std::vector<uint32_t> view_of;
      std::vector<bool> freed;
      std::vector<uint32_t> live;
      for (int step = 0; step < 3000; ++step) {
        if (!live.empty() && random() % 2 == 0) {
          const size_t at = random() % live.size();
          map.Show(BlockId(live[at]), view_of[live[at]]);
          freed[live[at]] = true;
          live[at] = live.back();
          live.pop_back();
          continue;
        }
        const auto view = static_cast<uint32_t>(random() % (seed % 2 == 0 ? 3 : kStreams));
        const auto may_take = [&](BlockId last, StreamId owner) {
          if (!last.valid()) return owner == StreamId(view);
          return freed[last.index()] && view_of[last.index()] == view;
        };
        const BlockId block(view_of.size());
        const Bytes size = (1 + random() % 20) * (segments ? 400 : 1) * kUnit;
        view_of.push_back(view);
        freed.push_back(false);
        live.push_back(block.value);
        REQUIRE(map.Fits(size, view) == slow.Fits(size, may_take));
        const Bytes offset = slow.Place(block, size, StreamId(view), may_take);
        REQUIRE(map.Place(block, size, view) == offset);
        REQUIRE(by_rule.Place(block, size, StreamId(view), may_take) == offset);
        REQUIRE(by_rule.added() == slow.added());
        REQUIRE(map.reserved() == slow.reserved());
        REQUIRE(map.added() == slow.added());
        reused += map.added() == 0 ? 1 : 0;
      }
    }
  }
  CHECK(reused > 10000);
}

}  // namespace
}  // namespace graphkit
