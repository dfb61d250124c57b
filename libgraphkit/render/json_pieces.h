// Writes JSON value by value, as Dump() writes it, without values in memory: for what there are
// many thousands of. Everything is written where the outermost value ends.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

class JsonPieces {
 public:
  // `indent`: as Dump()'s.
  explicit JsonPieces(std::ostream& out, int indent = -1) : out_(out), indent_(indent) {}

  // An array or an object: "[" or "{", its values, "]" or "}".
  void Begin(char open);
  void End(char close);

  // The next value is a member of this name, which needs no escapes.
  void Key(std::string_view name);

  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(const std::string& text) { Value(std::string_view(text)); }
  void Value(uint64_t number);
  void Value(uint32_t number) { Value(uint64_t{number}); }
  void Value(bool yes) { Plain(yes ? "true" : "false"); }
  void Value(const Json& value);
  void Null() { Plain("null"); }
  // Null where there is none.
  template <typename Tag>
  void Value(Id<Tag> id) {
    id ? Value(id.value) : Null();
  }
  template <typename T>
  void Value(const std::optional<T>& value) {
    value ? Value(*value) : Null();
  }
  template <typename T>
  void Value(const std::vector<T>& list) {
    Begin('[');
    for (const T& item : list) Value(item);
    End(']');
  }

  // A list of some values.
  template <typename... T>
  void Values(const T&... values) {
    Begin('[');
    (Value(values), ...);
    End(']');
  }

  template <typename T>
  void Add(std::string_view name, const T& value) {
    Key(name);
    Value(value);
  }
  // An object, or a list of them: write(item) writes the members.
  template <typename WriteMembers>
  void AddObject(std::string_view name, WriteMembers write) {
    Key(name);
    Begin('{');
    write();
    End('}');
  }
  template <typename List, typename WriteMembers>
  void AddObjects(std::string_view name, const List& list, WriteMembers write) {
    Key(name);
    Begin('[');
    for (const auto& item : list) {
      Begin('{');
      write(item);
      End('}');
    }
    End(']');
  }

 private:
  void Next();
  void NewLine();
  void Plain(std::string_view text);
  void Quoted(std::string_view text);

  std::ostream& out_;
  std::string text_;  // not written yet
  int indent_;
  int depth_ = 0;
  bool first_ = true;      // nothing was written at this depth
  bool named_ = false;     // a member's name was
  bool outermost_ = true;  // what comes is the whole value
};

}  // namespace graphkit

// Adds members of a value to the object that is being written, each under its name:
// WRITE_MEMBERS(json, graph, nodes, edges).
#define GRAPHKIT_WRITE_MEMBERS(json, value, ...)                                  \
  [](graphkit::JsonPieces& graphkit_pieces, const auto& graphkit_value) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(GRAPHKIT_WRITE_MEMBER, __VA_ARGS__)) \
  }(json, value)
#define GRAPHKIT_WRITE_MEMBER(name) graphkit_pieces.Add(#name, graphkit_value.name);
