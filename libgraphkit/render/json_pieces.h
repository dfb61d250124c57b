// Writes JSON value by value, as Dump() writes it, without values in memory: for what there are
// many thousands of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

class JsonPieces {
 public:
  // `indent`: as Dump()'s; `depth`: how deep the first value lies.
  JsonPieces(std::string* out, int indent, int depth) : out_(out), indent_(indent), depth_(depth) {}

  // An array or an object: "[" or "{", its values, "]" or "}".
  void Begin(char open);
  void End(char close);

  // What comes next is a member of this name, which needs no escapes.
  void Key(std::string_view name);

  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(const std::string& text) { Value(std::string_view(text)); }
  void Value(uint64_t number);
  void Value(uint32_t number) { Value(uint64_t{number}); }
  void Value(bool yes) { Plain(yes ? "true" : "false"); }
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

  std::string* out_;
  int indent_;
  int depth_;
  bool first_ = true;      // nothing was written at this depth
  bool named_ = false;     // a member's name was
  bool outermost_ = true;  // what comes is the whole value
};

}  // namespace graphkit
