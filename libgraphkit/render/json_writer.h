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

  template <typename List, typename ToJson>
  void AddList(std::string_view name, const List& list, ToJson to_json) {
    Begin(name);
    out_ << '[';
    bool first = true;
    for (const auto& item : list) {
      if (!first) out_ << ',';
      first = false;
      NewLine(2);
      Write(to_json(item), 2);
    }
    if (!first) NewLine(1);
    out_ << ']';
  }

  // The same of elements that are written piece by piece: write(item, text).
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
