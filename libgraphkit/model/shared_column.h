// A column of values that have most of what they say in common with others. A row holds what is the
// value's own, and refers to the rest, which is kept once for neighbours that agree:
//
//     rows      [seq 7, rest 0]  [seq 8, rest 1]  [seq 9, rest 0]
//     rests     0: {stream 7, kernel 3}   1: {stream 8, kernel 3}
//
// Reading gives a copy. Rows of the columns of a trace: trace.h.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "libgraphkit/interval.h"

namespace graphkit {

// `Row` has the type Value, the member uint32_t rest, and two functions:
//   static void ForEachOwn(row, value, visit): visit(member of the row, member of the value) for
//     what is the value's own;
//   static uint64_t Hash(const Value& rest).
template <typename Row>
class SharedColumn {
 public:
  using value_type = typename Row::Value;

  SharedColumn() = default;
  SharedColumn(std::initializer_list<value_type> values) { Append(values); }
  explicit SharedColumn(const std::vector<value_type>& values) { Append(values); }

  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  // Const: an assignment to what is a copy doesn't compile.
  [[gnu::always_inline]] const value_type operator[](size_t i) const {
    const Row& row = rows_[i];
    value_type value = rests_[row.rest];
    Row::ForEachOwn(row, value, [](const auto& own, auto& of_value) { of_value = own; });
    return value;
  }
  const value_type back() const { return (*this)[size() - 1]; }

  void push_back(const value_type& value) {
    rows_.emplace_back();
    Set(size() - 1, value);
  }
  Slice Append(const auto& values) {
    const auto first = static_cast<uint32_t>(size());
    for (const value_type& value : values) push_back(value);
    return {first, static_cast<uint32_t>(size()) - first};
  }
  void Set(size_t i, value_type value) {
    Row& row = rows_[i];
    Row::ForEachOwn(row, value,
                    [](auto& own, auto& of_value) { own = std::exchange(of_value, {}); });
    row.rest = Keep(value);
  }
  // change(value): what it makes of the value is kept.
  void Change(size_t i, auto change) {
    value_type value = (*this)[i];
    change(value);
    Set(i, value);
  }
  void ChangeAll(auto change) {
    for (size_t i = 0; i < size(); ++i) Change(i, change);
  }
  void resize(size_t size) {
    while (this->size() < size) push_back({});
    rows_.resize(size);
  }
  std::vector<Row>& rows() { return rows_; }  // to make room in
  size_t rests() const { return rests_.size(); }
  // The rest of each value, without what is its own, and of some that are no longer there: what
  // none of these has, no value has.
  const std::vector<value_type>& shared() const { return rests_; }

  class Iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = SharedColumn::value_type;
    using difference_type = std::ptrdiff_t;
    struct Pointer {
      value_type value;
      const value_type* operator->() const { return &value; }
    };

    Iterator() = default;
    Iterator(const SharedColumn& column, size_t at) : column_(&column), at_(at) {}
    value_type operator*() const { return (*column_)[at_]; }
    Pointer operator->() const { return {**this}; }
    value_type operator[](difference_type steps) const { return *(*this + steps); }
    Iterator& operator+=(difference_type steps) {
      at_ += static_cast<size_t>(steps);
      return *this;
    }
    Iterator& operator-=(difference_type steps) { return *this += -steps; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return {*column_, at_++}; }
    Iterator operator--(int) { return {*column_, at_--}; }
    friend Iterator operator+(Iterator it, difference_type steps) { return it += steps; }
    friend Iterator operator+(difference_type steps, Iterator it) { return it += steps; }
    friend Iterator operator-(Iterator it, difference_type steps) { return it -= steps; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.at_ - b.at_);
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    auto operator<=>(const Iterator& other) const { return at_ <=> other.at_; }

   private:
    const SharedColumn* column_ = nullptr;
    size_t at_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  struct Range {
    Iterator begin_, end_;
    Iterator begin() const { return begin_; }
    Iterator end() const { return end_; }
  };
  Range Of(Slice slice) const {
    return {{*this, slice.first}, {*this, size_t{slice.first} + slice.count}};
  }

  // The same values; their rests may lie otherwise.
  bool operator==(const SharedColumn& other) const { return std::ranges::equal(*this, other); }

 private:
  static constexpr size_t kMostRecent = size_t{1} << 16;
  static constexpr uint64_t kMostRests = uint64_t{1} << 32;

  // Where the rest is among those that were kept lately, or is kept now. One that agrees with
  // another and isn't found is kept again, so that nothing depends on the hash but memory.
  uint32_t Keep(const value_type& rest) {
    if (rests_.size() >= recent_.size() / 2 && recent_.size() < kMostRecent) {
      recent_.assign(std::max<size_t>(16, recent_.size() * 4), 0);
    }
    // A product's high bits depend on all bits.
    uint32_t& at = recent_[(Row::Hash(rest) >> 32) % recent_.size()];
    if (at < rests_.size() && rests_[at] == rest) return at;
    if (rests_.size() == kMostRests) throw std::length_error("too many different values");
    rests_.push_back(rest);
    return at = static_cast<uint32_t>(rests_.size() - 1);
  }

  std::vector<Row> rows_;
  std::vector<value_type> rests_;
  std::vector<uint32_t> recent_;  // by hash, a rest
};

}  // namespace graphkit
