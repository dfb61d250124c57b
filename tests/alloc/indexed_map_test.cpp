#include "libgraphkit/alloc/chunks/indexed_map.h"

#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

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

TEST_CASE("blocks go where a look at every byte puts them, whichever way runs are found") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const std::vector<Step> steps = RandomSteps(seed, 3000);
    Units units;
    std::vector<IndexedMap> maps;
    for (const uint32_t max_listed : {0u, 6u, 40u, ListedRuns::kMaxListed}) {
      maps.emplace_back(
          IndexedMap::Options{
              .config = {}, .views = kViews, .shared = true, .max_listed = max_listed},
          3000);
    }
    CAPTURE(seed);
    for (const Step& step : steps) {
      if (!step.place) units.Show(step.block, step.view);
      const Bytes offset = step.place ? units.Place(step.block, step.size, step.view) : 0;
      for (IndexedMap& map : maps) {
        if (!step.place) {
          map.Show(step.block, step.view);
          continue;
        }
        REQUIRE(map.Place(step.block, step.size * kUnit, step.view) == offset);
        REQUIRE(map.reserved() == units.reserved());
      }
    }
  }
}

// Every second block is shown by way of slots: the first view that it is shown to puts it into one,
// and the block that comes next in the slot makes it leave.
class Slots {
 public:
  const ViewSlots* table() const { return &table_; }

  void Show(const Step& step, IndexedMap* map) {
    if (step.block.value % 2 != 0 || left_[step.block.index()]) {
      map->Show(step.block, step.view);
      return;
    }
    const auto slot = static_cast<uint8_t>(step.block.value / 2 % ViewSlots::kSlots);
    if (table_.blocks[slot] != step.block) Enter(step.block, slot, map);
    table_.views[slot] |= ViewMask{1} << step.view;
    if (map->needs_shows()) map->Show(step.block, step.view);
  }

 private:
  void Enter(BlockId block, uint8_t slot, IndexedMap* map) {
    const BlockId last = table_.blocks[slot];
    const ViewMask views = std::exchange(table_.views[slot], ViewMask{0});
    if (last.valid()) {
      left_[last.index()] = true;
      map->LeaveSlot(last, views);
    }
    table_.blocks[slot] = block;
    map->PutInSlot(block, slot);
  }

  ViewSlots table_;
  std::vector<bool> left_ = std::vector<bool>(3000);
};

TEST_CASE("a block that is in a slot is shown to the slot's views") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Units units;
    for (const uint32_t max_listed : {6u, 40u, ListedRuns::kMaxListed}) {
      units = {};
      Slots slots;
      IndexedMap map(IndexedMap::Options{.config = {},
                                         .views = kViews,
                                         .shared = true,
                                         .slots = slots.table(),
                                         .max_listed = max_listed},
                     3000);
      CAPTURE(seed);
      CAPTURE(max_listed);
      for (const Step& step : RandomSteps(seed, 3000)) {
        if (!step.place) {
          units.Show(step.block, step.view);
          slots.Show(step, &map);
          continue;
        }
        REQUIRE(map.Place(step.block, step.size * kUnit, step.view) ==
                units.Place(step.block, step.size, step.view));
        REQUIRE(map.reserved() == units.reserved());
      }
    }
  }
}

TEST_CASE("with segments both ways of finding runs find the same") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    IndexedMap::Options options{.config = CachingConfig{}, .views = kViews, .shared = true};
    IndexedMap listed(options, 3000);
    options.max_listed = 0;
    IndexedMap by_view(options, 3000);
    CAPTURE(seed);
    for (const Step& step : RandomSteps(seed, 3000)) {
      if (!step.place) {
        listed.Show(step.block, step.view);
        by_view.Show(step.block, step.view);
        continue;
      }
      const Bytes size = step.size * step.size * step.size * 8 * kUnit;
      REQUIRE(listed.Place(step.block, size, step.view) ==
              by_view.Place(step.block, size, step.view));
      REQUIRE(listed.reserved() == by_view.reserved());
    }
  }
}

}  // namespace
}  // namespace graphkit
