// The accesses of a trace, of which it has more than of anything else. Nearly all reach from the
// begin of a block an unknown length: eight bytes each. The others have their extent beside, which
// neighbours share:
//
//     rows      {block 3, read, 0}  {block 4, write, 0}  {block 4, read, 1}
//     extents   1: [512, 512 + 64)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/model/memory.h"

namespace graphkit {

class AccessColumn {
 public:
  using value_type = Access;

  // What an access says of its block, when it isn't the default.
  struct Extent {
    Bytes offset = 0;
    Bytes length = kLengthUnknown;
    bool operator==(const Extent&) const = default;
  };
  struct Row {
    BlockId block;
    uint32_t extent : 30 = 0;  // index in the extents, counted from 1; 0: the default
    AccessMode mode : 2 = AccessMode::kUnknown;
  };
  static_assert(sizeof(Row) == 8);
  // What can be said with these: a slice has 32 bits, an extent's index 30.
  static constexpr size_t kMostRows = (size_t{1} << 32) - 1;
  static constexpr size_t kMostExtents = (size_t{1} << 30) - 1;

  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  [[gnu::always_inline]] Access operator[](size_t i) const {
    const Row& row = rows_[i];
    const Extent extent = row.extent == 0 ? Extent() : extents_[row.extent - 1];
    return {row.block, row.mode, extent.offset, extent.length};
  }

  // Whether so many more fit, whatever they are.
  static constexpr bool Fits(size_t rows, size_t extents, size_t more) {
    return more <= kMostRows - rows && more <= kMostExtents - extents;
  }
  bool Fits(size_t more) const { return Fits(rows_.size(), extents_.size(), more); }
  void push_back(const Access& access) {
    rows_.emplace_back();
    Set(rows_.size() - 1, access);
  }
  Slice Append(const auto& accesses) {
    const auto first = static_cast<uint32_t>(rows_.size());
    for (const Access& access : accesses) push_back(access);
    return {first, static_cast<uint32_t>(rows_.size()) - first};
  }
  void Set(size_t i, const Access& access);
  void Truncate(size_t size) { rows_.resize(std::min(size, rows_.size())); }
  std::vector<Row>& rows() { return rows_; }  // to make room in

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Access;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const AccessColumn& column, size_t at) : column_(&column), at_(at) {}
    Access operator*() const { return (*column_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {*column_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const AccessColumn* column_ = nullptr;
    size_t at_ = 0;
  };
  struct Range {
    Iterator begin_, end_;
    Iterator begin() const { return begin_; }
    Iterator end() const { return end_; }
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  Range Of(Slice slice) const {
    return {{*this, slice.first}, {*this, size_t{slice.first} + slice.count}};
  }

  // The same accesses; their extents may lie otherwise.
  bool operator==(const AccessColumn& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::vector<Row> rows_;
  std::vector<Extent> extents_;
};

}  // namespace graphkit
