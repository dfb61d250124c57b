// Names, each stored once.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

// Keeps each distinct string once and gives it a dense id. Views stay valid as long as the table
// (also when it is moved): the characters never move.
class StringTable {
 public:
  StringTable() = default;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable& other) { *this = other; }
  StringTable& operator=(const StringTable& other);

  StringId Intern(std::string_view text);

  // The text of an id; empty for an id that refers to nothing.
  std::string_view operator[](StringId id) const;

  size_t size() const { return order_.size(); }
  bool operator==(const StringTable& other) const;

 private:
  std::deque<std::string> storage_;
  std::vector<std::string_view> order_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace graphkit
