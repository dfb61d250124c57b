// The rows of a trace that each root graph, with the graphs in it, has, found once for all: so that
// who looks at one graph after the other goes through each row of the trace once, and has tables as
// long as the graph's part.
//
//     nodes      0  1  2  3  4  5            nodes of graph 1, by their own numbers:
//     of graph   0  0  1  0  1  1            0: 2,  1: 4,  2: 5
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Rows of a table, in its order: all of them, or some; each with a number of its own.
class Rows {
 public:
  static Rows All(size_t size) {
    Rows rows;
    rows.size_ = size;
    return rows;
  }
  Rows() = default;
  // `numbers`: by row of the table, so that a number is found at once; must outlive the rows.
  explicit Rows(std::vector<uint32_t> rows, std::span<const uint32_t> numbers = {})
      : some_(rows.empty() || rows.back() - rows.front() + 1 != rows.size()), size_(rows.size()) {
    if (some_) {
      rows_ = std::move(rows);
      numbers_ = numbers;
    } else {
      first_ = rows.front();
    }
  }

  size_t size() const { return size_; }
  size_t operator[](size_t number) const { return some_ ? rows_[number] : first_ + number; }
  // The number of the first row from `row` on; size(): there is none.
  size_t FirstFrom(size_t row) const {
    if (!some_) return std::min(std::max(row, first_) - first_, size_);
    return static_cast<size_t>(std::ranges::lower_bound(rows_, row) - rows_.begin());
  }
  // size() or more: the row isn't there.
  size_t NumberOf(size_t row) const {
    if (!some_) return row - first_;  // one before them comes out far above
    if (numbers_.empty()) {
      const auto at = std::ranges::lower_bound(rows_, row);
      return at != rows_.end() && *at == row ? static_cast<size_t>(at - rows_.begin()) : size_;
    }
    const size_t number = row < numbers_.size() ? numbers_[row] : size_;
    return number < size_ && rows_[number] == row ? number : size_;
  }

 private:
  bool some_ = false;  // there are gaps
  size_t size_ = 0;
  size_t first_ = 0;
  std::vector<uint32_t> rows_;
  std::span<const uint32_t> numbers_;
};

struct GraphSlice {
  GraphId root;  // none: the whole trace
  Rows nodes;
  Rows blocks;
  Rows stream_ops;  // that say or change where the graph's streams stand
  Rows captures;
  Rows streams;  // of all these
  Rows events;
};

GraphSlice WholeTrace(const Ran& trace);

class Slices {
 public:
  // `roots`: of each graph; `blocks`: of each root graph, in their order.
  Slices(const Ran& trace, std::span<const GraphId> roots,
         std::span<const std::vector<BlockId>> blocks);
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  const GraphSlice& Of(GraphId root) const { return slices_[root.index()]; }

 private:
  std::vector<GraphSlice> slices_;      // by root graph
  std::vector<uint32_t> node_numbers_;  // by node, in its root graph
  std::vector<uint32_t> block_numbers_;
};

}  // namespace graphkit
