#include "libgraphkit/model/string_table.h"

#include <algorithm>

namespace graphkit {

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  storage_.clear();
  order_.clear();
  ids_.clear();
  for (std::string_view text : other.order_) Intern(text);
  return *this;
}

StringId StringTable::Intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const StringId id(order_.size());
  const std::string& stored = storage_.emplace_back(text);
  order_.push_back(stored);
  ids_.emplace(stored, id);
  return id;
}

std::string_view StringTable::operator[](StringId id) const {
  return id.valid() ? order_[id.index()] : std::string_view();
}

bool StringTable::operator==(const StringTable& other) const {
  return std::ranges::equal(order_, other.order_);
}

}  // namespace graphkit
