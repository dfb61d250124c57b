// Tables of comma-separated values without quotes: a line that names the columns, in any order,
// then rows. Empty lines are passed over, spaces around values are none of theirs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace graphkit {

class CsvReader {
 public:
  // `wanted`: the columns to be read; others are passed over.
  CsvReader(std::string_view text, std::span<const std::string_view> wanted) : rest_(text) {
    places_.resize(wanted.size(), kNone);
    if (!Next()) return;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto at = std::ranges::find(fields_, wanted[i]);
      if (at != fields_.end()) places_[i] = static_cast<size_t>(at - fields_.begin());
    }
  }

  // Of wanted columns, by their numbers.
  bool has_column(size_t column) const { return places_[column] != kNone; }
  bool has_all_columns() const { return std::ranges::find(places_, kNone) == places_.end(); }

  // Moves on to the next row; false: there is none.
  bool Next() {
    while (!rest_.empty()) {
      std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      Split(line);
      return true;
    }
    return false;
  }
  uint64_t line() const { return line_; }  // of the row, from 1; 0: the text is empty

  // The row's field in a wanted column; null: it has none.
  const std::string_view* Find(size_t column) const {
    return places_[column] < fields_.size() ? &fields_[places_[column]] : nullptr;
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  void Split(std::string_view line) {
    fields_.clear();
    for (size_t begin = 0; begin <= line.size();) {
      std::string_view field = line.substr(begin, line.find(',', begin) - begin);
      begin += field.size() + 1;
      while (field.starts_with(' ') || field.starts_with('\t')) field.remove_prefix(1);
      while (field.ends_with(' ') || field.ends_with('\t')) field.remove_suffix(1);
      fields_.push_back(field);
    }
  }

  std::string_view rest_;
  uint64_t line_ = 0;
  std::vector<size_t> places_;  // of wanted columns
  std::vector<std::string_view> fields_;
};

}  // namespace graphkit
