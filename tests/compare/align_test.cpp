// Elements of a damaged sequence that are certainly which of the whole one.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "libgraphkit/compare/attribute/align.h"
#include "libgraphkit/random.h"

namespace graphkit {
namespace {

using Sequence = std::vector<uint32_t>;
constexpr uint32_t kNoPair = CertainPairs::kNoPartner;

Sequence PartnersOf(const Sequence& a, const Sequence& b) { return FindCertainPairs(a, b).partner; }

TEST_CASE("equal sequences are paired one by one, and a dropped element leaves a gap") {
  CHECK(PartnersOf({1, 2, 1, 2}, {1, 2, 1, 2}) == Sequence{0, 1, 2, 3});
  CHECK(PartnersOf({1, 2, 3, 4}, {1, 2, 4}) == Sequence{0, 1, 3});
  CHECK(PartnersOf({1, 2, 3}, {}) == Sequence{});
}

TEST_CASE("of equal elements beside a dropped or repeated one none has a partner") {
  CHECK(PartnersOf({1, 2, 2, 2, 3}, {1, 2, 2, 3}) == Sequence{0, kNoPair, kNoPair, 4});
  CHECK(PartnersOf({1, 2, 3}, {1, 2, 2, 3}) == Sequence{0, kNoPair, kNoPair, 2});
}

TEST_CASE("an element that moved has its partner where no other is like it") {
  Sequence whole(40);
  for (uint32_t i = 0; i < 40; ++i) whole[i] = i;
  Sequence moved = whole;
  std::swap(moved[20], moved[21]);
  CHECK(PartnersOf(whole, moved) == moved);
}

TEST_CASE("where elements moved, those that a layer further are like them have no partner") {
  Sequence whole, moved;
  for (uint32_t layer = 0; layer < 6; ++layer) whole.insert(whole.end(), {1, 2, 3, 4});
  moved = whole;
  std::swap(moved[10], moved[11]);
  CHECK(PartnersOf(whole, moved) == Sequence(24, kNoPair));
}

TEST_CASE("sequences that differ altogether have no pairs") {
  CHECK(PartnersOf(Sequence(9'000, 1), Sequence(9'000, 2)) == Sequence(9'000, kNoPair));
}

// The length of a longest common subsequence that doesn't have the pair.
size_t CommonWithout(const Sequence& a, const Sequence& b, size_t not_a, size_t not_b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool pair = a[i - 1] == b[j - 1] && (i - 1 != not_a || j - 1 != not_b);
      length[i][j] =
          std::max({length[i - 1][j], length[i][j - 1], pair ? length[i - 1][j - 1] + 1 : 0});
    }
  }
  return length[a.size()][b.size()];
}

TEST_CASE("with elements dropped, certain is what every longest common subsequence has") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Sequence whole;
    for (size_t i = 0; i < 14; ++i) whole.push_back(static_cast<uint32_t>(random.Below(3)));
    Sequence left;
    for (const uint32_t element : whole) {
      if (random.Below(4) > 0) left.push_back(element);
    }
    const size_t common = CommonWithout(whole, left, kNoPair, kNoPair);
    Sequence expected(left.size(), kNoPair);
    for (uint32_t i = 0; i < whole.size(); ++i) {
      for (size_t j = 0; j < left.size(); ++j) {
        if (CommonWithout(whole, left, i, j) < common) expected[j] = i;
      }
    }
    CHECK(PartnersOf(whole, left) == expected);
  }
}

struct Element {
  uint32_t symbol = 0, original = 0;
};

// A model: layers of equal kernels between a head and a tail.
std::vector<Element> MakeModel(Random& random) {
  std::vector<Element> model;
  const auto add = [&](uint64_t symbol) {
    model.push_back({static_cast<uint32_t>(symbol), static_cast<uint32_t>(model.size())});
  };
  Sequence layer;
  for (uint64_t i = 0, end = 6 + random.Below(12); i < end; ++i)
    layer.push_back(static_cast<uint32_t>(random.Below(8)));
  for (uint64_t i = 0; i < 4; ++i) add(20 + i);
  for (uint64_t i = 0, end = 4 + random.Below(30); i < end; ++i) {
    for (const uint32_t symbol : layer) add(symbol);
  }
  for (uint64_t i = 0; i < 4; ++i) add(30 + i);
  return model;
}

using Elements = std::vector<Element>;
void Drop(Elements& from, Random& random) {
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(random.Below(from.size())));
}
void Repeat(Elements& from, Random& random) {
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(random.Below(from.size()));
  from.insert(at, *at);
}
// Which of two equal kernels is first can't be seen: they keep their order.
void Shuffle(Elements& from, Random& random) {
  const size_t count = 2 + random.Below(24), begin = random.Below(from.size() - count);
  std::map<uint32_t, std::vector<uint32_t>> originals;
  for (size_t i = begin; i < begin + count; ++i)
    originals[from[i].symbol].push_back(from[i].original);
  for (size_t i = count; i > 1; --i) std::swap(from[begin + i - 1], from[begin + random.Below(i)]);
  std::map<uint32_t, size_t> used;
  for (size_t i = begin; i < begin + count; ++i) {
    from[i].original = originals[from[i].symbol][used[from[i].symbol]++];
  }
}

void Damage(uint64_t kind, Elements& elements, Random& random) {
  kind == 0   ? Drop(elements, random)
  : kind == 1 ? Repeat(elements, random)
              : Shuffle(elements, random);
}

TEST_CASE("of planted drops, repeats and shuffles in a model's layers no pair is wrong") {
  size_t paired = 0, all = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Elements model = MakeModel(random);
    Elements damaged = model;
    const uint64_t kind = random.Below(3), times = 1 + random.Below(kind == 2 ? 2 : 6);
    for (uint64_t i = 0; i < times; ++i) Damage(kind, damaged, random);
    Sequence a, b;
    for (const Element& element : model) a.push_back(element.symbol);
    for (const Element& element : damaged) b.push_back(element.symbol);
    const Sequence partners = PartnersOf(a, b);
    for (size_t j = 0; j < b.size(); ++j) {
      all += 1;
      paired += partners[j] != kNoPair;
      if (partners[j] != kNoPair) CHECK(partners[j] == damaged[j].original);
    }
  }
  CHECK(paired * 100 > all * 60);  // it isn't silent altogether
}

// Equal neighbours of which one is missing and another is there twice.
bool AreEqualNeighbours(const Sequence& a, uint32_t i, uint32_t j) {
  const auto begin = a.begin() + std::min(i, j), end = a.begin() + std::max(i, j) + 1;
  return std::all_of(begin, end, [&](uint32_t symbol) { return symbol == a[i]; });
}

TEST_CASE("of drops, repeats and shuffles together no pair is wrong but of equal neighbours") {
  size_t paired = 0, all = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Elements model = MakeModel(random);
    Elements damaged = model;
    for (uint64_t i = 0, times = 2 + random.Below(3); i < times; ++i)
      Damage(random.Below(3), damaged, random);
    Sequence a, b;
    for (const Element& element : model) a.push_back(element.symbol);
    for (const Element& element : damaged) b.push_back(element.symbol);
    const Sequence partners = PartnersOf(a, b);
    for (size_t j = 0; j < b.size(); ++j) {
      all += 1;
      paired += partners[j] != kNoPair;
      if (partners[j] != kNoPair) CHECK(AreEqualNeighbours(a, partners[j], damaged[j].original));
    }
  }
  CHECK(paired * 100 > all * 15);
}

}  // namespace
}  // namespace graphkit
