#include "libgraphkit/compare/attribute/align.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace graphkit {
namespace {

constexpr uint32_t kNoPair = CertainPairs::kNoPartner;
constexpr size_t kMostCells = size_t{1} << 23;  // of each of two tables
constexpr size_t kDoubt = 8;

// Lengths of the longest common subsequences of beginnings: (i, j) of a[0, i) and b[0, j), in a
// band of diagonals. Outside of it a length counts as 0, which is at most the true one.
class BandedLengths {
 public:
  template <typename At>
  BandedLengths(size_t rows, size_t columns, size_t band, At equal)
      : columns_(columns), band_(band), cells_((rows + 1) * (2 * band + 1)) {
    for (size_t i = 1; i <= rows; ++i) {
      const size_t first = std::max<size_t>(1, i > band ? i - band : 1);
      for (size_t j = first; j <= std::min(columns, i + band); ++j) {
        const uint32_t both = equal(i - 1, j - 1) ? at(i - 1, j - 1) + 1 : 0;
        cells_[Index(i, j)] = std::max({both, at(i - 1, j), at(i, j - 1)});
      }
    }
  }

  uint32_t at(size_t i, size_t j) const {
    return j + band_ < i || j > i + band_ || j > columns_ ? 0 : cells_[Index(i, j)];
  }

 private:
  size_t Index(size_t i, size_t j) const { return i * (2 * band_ + 1) + (j + band_ - i); }

  size_t columns_, band_;
  std::vector<uint32_t> cells_;
};

// What all elements are paired with in the common subsequences that are at most kDoubt shorter than
// the longest; kNoPair where they differ. `length(i, j)`: of the longest one with that pair.
template <typename Length>
void PairByAll(std::span<const uint32_t> a, std::span<const uint32_t> b, size_t band, size_t common,
               Length length, std::vector<uint32_t>* partner) {
  constexpr uint32_t kSeveral = kNoPair - 1;
  std::vector<uint32_t> of_a(a.size(), kNoPair);
  std::ranges::fill(*partner, kNoPair);
  const auto take = [](uint32_t& of, size_t other) {
    of = of == kNoPair ? static_cast<uint32_t>(other) : kSeveral;
  };
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i > band ? i - band : 0; j < std::min(b.size(), i + band + 1); ++j) {
      if (a[i] != b[j] || length(i, j) + kDoubt < common) continue;
      take(of_a[i], j);
      take((*partner)[j], i);
    }
  }
  for (uint32_t& of : *partner) {
    if (of == kSeveral || (of != kNoPair && of_a[of] == kSeveral)) of = kNoPair;
  }
}

// Each longest common subsequence has one pair of each rank: certain is that of which there is one.
// `rank_of(i, j)`: of a pair that is in one of them.
template <typename RankOf>
void PairByRank(std::span<const uint32_t> a, std::span<const uint32_t> b, size_t band,
                size_t common, RankOf rank_of, std::vector<uint32_t>* partner) {
  std::vector<std::pair<uint32_t, uint32_t>> last(common, {kNoPair, kNoPair});
  std::vector<bool> several(common);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i > band ? i - band : 0; j < std::min(b.size(), i + band + 1); ++j) {
      const std::optional<size_t> rank = a[i] == b[j] ? rank_of(i, j) : std::nullopt;
      if (!rank) continue;
      several[*rank] = several[*rank] || last[*rank].first != kNoPair;
      last[*rank] = {static_cast<uint32_t>(i), static_cast<uint32_t>(j)};
    }
  }
  for (size_t rank = 0; rank < common; ++rank) {
    if (!several[rank]) (*partner)[last[rank].second] = last[rank].first;
  }
}

}  // namespace

CertainPairs FindCertainPairs(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t rows = a.size(), columns = b.size();
  const size_t slant = std::max(rows, columns) - std::min(rows, columns);
  CertainPairs pairs{.partner = std::vector<uint32_t>(columns, kNoPair), .edits = rows + columns};
  for (size_t edits = std::max<size_t>(slant, 4);; edits *= 2) {
    const size_t band = edits + slant + 2 * kDoubt;
    if ((rows + 1) * (2 * band + 1) > kMostCells) return pairs;
    const BandedLengths before(rows, columns, band,
                               [&](size_t i, size_t j) { return a[i] == b[j]; });
    const size_t common = before.at(rows, columns);
    if (rows + columns - 2 * common > edits) continue;  // a better one may leave the band
    pairs.edits = rows + columns - 2 * common;
    const BandedLengths behind(rows, columns, band, [&](size_t i, size_t j) {
      return a[rows - 1 - i] == b[columns - 1 - j];
    });
    const auto length = [&](size_t i, size_t j) {
      return before.at(i, j) + 1 + behind.at(rows - 1 - i, columns - 1 - j);
    };
    const auto rank_of = [&](size_t i, size_t j) -> std::optional<size_t> {
      if (length(i, j) != common) return std::nullopt;
      return before.at(i, j);
    };
    if (common < rows && common < columns) {
      PairByAll(a, b, band, common, length, &pairs.partner);
    } else {
      PairByRank(a, b, band, common, rank_of, &pairs.partner);
    }
    return pairs;
  }
}

}  // namespace graphkit
