#include "libgraphkit/compare/attribute/align.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr uint32_t kNoPair = CertainPairs::kNoPartner;
constexpr size_t kMostCells = size_t{1} << 23;  // of each of two tables
constexpr size_t kShortestRun = 8;

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

struct Run {
  size_t a = 0, b = 0, length = 0;
};

// The pairs as runs of neighbours on both sides.
std::vector<Run> RunsOf(const std::vector<uint32_t>& partner) {
  std::vector<Run> runs;
  for (size_t j = 0; j < partner.size(); ++j) {
    if (partner[j] == kNoPair) continue;
    const bool next = !runs.empty() && partner[j] == runs.back().a + runs.back().length &&
                      j == runs.back().b + runs.back().length;
    if (!next) runs.push_back({partner[j], j, 0});
    ++runs.back().length;
  }
  return runs;
}

// Keeps long runs, without their ends where both sides have elements without a partner.
void KeepUndisturbed(size_t a_size, std::vector<uint32_t>* partner) {
  std::vector<Run> runs = RunsOf(*partner);
  std::erase_if(runs, [](const Run& run) { return run.length < kShortestRun; });
  const size_t b_size = partner->size();
  const auto trim = [&](size_t before) {  // of the gap behind run `before` - 1
    const Run begin = before == 0 ? Run() : runs[before - 1];
    const Run end = before == runs.size() ? Run{a_size, b_size, 0} : runs[before];
    const size_t in_a = end.a - begin.a - begin.length, in_b = end.b - begin.b - begin.length;
    return in_a == 0 || in_b == 0 ? 0 : std::max({kShortestRun, in_a, in_b});
  };
  std::vector<uint32_t> kept(b_size, kNoPair);
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t head = trim(i), tail = trim(i + 1);
    for (size_t k = head; k + tail < runs[i].length; ++k) {
      kept[runs[i].b + k] = static_cast<uint32_t>(runs[i].a + k);
    }
  }
  *partner = std::move(kept);
}

}  // namespace

CertainPairs FindCertainPairs(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t rows = a.size(), columns = b.size();
  const size_t slant = std::max(rows, columns) - std::min(rows, columns);
  CertainPairs pairs{.partner = std::vector<uint32_t>(columns, kNoPair), .edits = rows + columns};
  for (size_t edits = std::max<size_t>(slant, 4);; edits *= 2) {
    const size_t band = edits + slant;
    if ((rows + 1) * (2 * band + 1) > kMostCells) return pairs;
    const BandedLengths before(rows, columns, band,
                               [&](size_t i, size_t j) { return a[i] == b[j]; });
    const size_t common = before.at(rows, columns);
    if (rows + columns - 2 * common > edits) continue;  // a better one may leave the band
    pairs.edits = rows + columns - 2 * common;
    const BandedLengths behind(rows, columns, band, [&](size_t i, size_t j) {
      return a[rows - 1 - i] == b[columns - 1 - j];
    });
    // Each longest common subsequence has one pair of each rank: certain is that of which there is
    // one.
    std::vector<std::pair<uint32_t, uint32_t>> last(common, {kNoPair, kNoPair});
    std::vector<bool> several(common);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = i > band ? i - band : 0; j < std::min(columns, i + band + 1); ++j) {
        if (a[i] != b[j]) continue;
        const size_t rank = before.at(i, j);
        if (rank + 1 + behind.at(rows - 1 - i, columns - 1 - j) != common) continue;
        several[rank] = several[rank] || last[rank].first != kNoPair;
        last[rank] = {static_cast<uint32_t>(i), static_cast<uint32_t>(j)};
      }
    }
    for (size_t rank = 0; rank < common; ++rank) {
      if (!several[rank]) pairs.partner[last[rank].second] = last[rank].first;
    }
    if (common < rows && common < columns) KeepUndisturbed(rows, &pairs.partner);
    return pairs;
  }
}

}  // namespace graphkit
