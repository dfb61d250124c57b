// How values of the model stand in the JSON of every presenter.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>

#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/names.h"

namespace graphkit {

using Json = nlohmann::ordered_json;

// Null where there is none.
template <typename Tag>
void to_json(Json& json, Id<Tag> id) {
  json = id ? Json(id.value) : Json(nullptr);
}
// The word of an enumerator.
template <typename Enum>
requires requires { Names<Enum>::value; }
void to_json(Json& json, Enum value) { json = NameOf(value); }

// The text; null where it is empty.
inline Json NullIfEmpty(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

template <typename List, typename ToJson>
Json ListJson(const List& list, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : list) array.push_back(to_json(item));
  return array;
}

// Whatever bytes a name has: the file is UTF-8.
inline std::string Dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// A view's document: its schema, version 1, and these members.
inline void WriteDocument(const char* schema, Json members, std::ostream& out, int indent = 2) {
  Json document{{"schema", schema}, {"version", 1}};
  for (auto& [key, value] : members.items()) document[key] = std::move(value);
  out << Dump(document, indent) << "\n";
}

}  // namespace graphkit

// Unknown values are null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(graphkit::Json& json, const std::optional<T>& value) {
    json = value ? graphkit::Json(*value) : graphkit::Json(nullptr);
  }
};

// Adds members of a value to an object, each under its name: ADD_MEMBERS(json, graph, nodes,
// edges).
#define GRAPHKIT_ADD_MEMBERS(json, value, ...)                               \
  [](graphkit::Json& nlohmann_json_j, const auto& nlohmann_json_t) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__)) \
  }(json, value)

// How a type stands in JSON everywhere: an object of these members.
#define GRAPHKIT_JSON_OF(Type, ...)                    \
  inline void to_json(Json& json, const Type& value) { \
    GRAPHKIT_ADD_MEMBERS(json, value, __VA_ARGS__);    \
  }

namespace graphkit {
GRAPHKIT_JSON_OF(ByteRange, bytes, low, high)

// Moments of a device's memory: the same in every view.
inline void to_json(Json& json, const MemoryAt& at) {
  json = Json{{"record", at.seq},
              {"reserved_bytes", at.reserved},
              {"segments", at.segments},
              {"in_use_bytes", at.in_use},
              {"allocated_bytes", at.allocated},
              {"requested_bytes", at.requested},
              {"blocks", at.blocks}};
}
GRAPHKIT_JSON_OF(MemoryMoments, peak_reserved, peak_in_use, peak_allocated, peak_requested, end)

inline Json EdgeJson(EdgeId id, const Edge& edge) {
  Json json{{"id", id}};
  GRAPHKIT_ADD_MEMBERS(json, edge, from, to, from_port, to_port);
  json["edge_type"] = static_cast<int>(edge.type);
  return json;
}

}  // namespace graphkit
