// Writes a JSON object piece by piece, as Dump() would write it whole: of a list of many thousand
// elements one at a time is a value in memory.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/render/json.h"
#include "libgraphkit/render/json_pieces.h"

namespace graphkit {

class JsonObjectWriter {
 public:
  // `indent`: as Dump()'s.
  explicit JsonObjectWriter(std::ostream& out, int indent = -1) : out_(out), indent_(indent) {
    out_ << '{';
  }

  void Add(std::string_view name, const Json& value) {
    Begin(name);
    Write(value, 1);
  }

  // A value that is written piece by piece: write(text).
  template <typename WriteValue>
  void AddText(std::string_view name, WriteValue write) {
    Begin(name);
    std::string text;
    JsonPieces json(&text, indent_, 1);
    write(json);
    out_ << text;
  }

  // A list of such: write(item, text).
  template <typename List, typename WriteItem>
  void AddTexts(std::string_view name, const List& list, WriteItem write) {
    Begin(name);
    out_ << '[';
    std::string text;
    bool first = true;
    for (const auto& item : list) {
      if (!first) out_ << ',';
      first = false;
      NewLine(2);
      text.clear();
      JsonPieces json(&text, indent_, 2);
      write(item, json);
      out_ << text;
    }
    if (!first) NewLine(1);
    out_ << ']';
  }

  void End();

 private:
  void Begin(std::string_view name);
  void NewLine(int depth);
  void Write(const Json& value, int depth);

  std::ostream& out_;
  int indent_;
  bool first_ = true;
};

}  // namespace graphkit

// Adds members of a value to the object that is being written, each under its name:
// WRITE_MEMBERS(json, graph, nodes, edges).
#define GRAPHKIT_WRITE_MEMBERS(json, value, ...)                                  \
  [](graphkit::JsonPieces& graphkit_pieces, const auto& graphkit_value) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(GRAPHKIT_WRITE_MEMBER, __VA_ARGS__)) \
  }(json, value)
#define GRAPHKIT_WRITE_MEMBER(name) graphkit_pieces.Add(#name, graphkit_value.name);
