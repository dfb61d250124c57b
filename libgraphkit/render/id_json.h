#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

/// An id as the JSON of every presenter has it: its value, or null where there is none.
template <typename Tag>
nlohmann::ordered_json IdJson(Id<Tag> id) {
  return id ? nlohmann::ordered_json(id.value) : nlohmann::ordered_json(nullptr);
}

/// The values of `ids`, in their order.
template <typename Tag>
nlohmann::ordered_json IdsJson(const std::vector<Id<Tag>>& ids) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Id<Tag> id : ids) list.push_back(id.value);
  return list;
}

/// A figure, or null where it isn't known.
template <typename T>
nlohmann::ordered_json FigureJson(const std::optional<T>& figure) {
  return figure ? nlohmann::ordered_json(*figure) : nlohmann::ordered_json(nullptr);
}

}  // namespace graphkit
