// The texts of the report's page, each stored once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Texts by number, in order of appearance.
class TextList {
 public:
  uint32_t Add(const std::string& text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

// What each node is called, by number.
struct NodeTexts {
  std::vector<uint32_t> name;            // by node, in the two lists below
  std::vector<std::string> names;        // "void add<float>(float*, int)"
  std::vector<std::string> short_names;  // "add<…>"
  std::vector<uint32_t> detail;          // by node, in `details`
  TextList details;                      // "64 blocks of 256"
};
NodeTexts NameNodes(const Trace& trace);

// By stack: its frames, each [function, file, line].
nlohmann::ordered_json StacksJson(const Trace& trace);

}  // namespace graphkit
