#include "libgraphkit/group_by.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/random.h"

namespace graphkit {

TEST_CASE("entries are sorted by place, stably, wherever the places lie") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(300); ++round) {
    const Seq first = static_cast<Seq>(random() >> 33);
    const uint64_t places = uint64_t{1} << random() % 22;
    std::vector<Seq> seqs(random() % 2000);
    for (Seq& seq : seqs) {
      seq = random() % 5 == 0 ? kNever : first + static_cast<Seq>(random() % places);
    }
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < seqs.size(); ++i) {
      if (seqs[i] != kNever) expected.push_back(i);
    }
    std::ranges::stable_sort(expected, {}, [&](uint32_t i) { return seqs[i]; });
    CHECK(SortBySeq(seqs.size(), [&](size_t i) { return seqs[i]; }) == expected);
  }
}

TEST_CASE("the rows of a column come with their indices") {
  const std::vector<char> letters = {'a', 'b'};
  std::vector<std::pair<uint32_t, char>> rows;
  for (const auto& [i, letter] : Enumerate<uint32_t>(letters)) rows.push_back({i, letter});
  CHECK(rows == std::vector<std::pair<uint32_t, char>>{{0, 'a'}, {1, 'b'}});
}

}  // namespace graphkit
