// The look of a drawing: shapes and colours by node kind, lines by edge kind.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/model/graph.h"

namespace graphkit {

struct NodeLook {
  const char* shape;
  const char* style;
  const char* fill;
  const char* line;
};

struct EdgeLook {
  const char* name;   // "full", "programmatic", "launch completion"
  const char* style;  // Graphviz'
  const char* head;
  const char* colour;
  const char* sample;  // the line in characters, for the legend
};

const NodeLook& LookOf(NodeKind kind);
const EdgeLook& LookOf(uint8_t from_port, EdgeType type);

inline constexpr const char* kFont = "Helvetica";
inline constexpr const char* kInk = "#2b3440";      // text
inline constexpr const char* kPaleInk = "#66717e";  // second lines
inline constexpr const char* kGraphLine = "#b4bdc8";
inline constexpr const char* kHoldsLine = "#8b96a3";
inline constexpr const char* kGraphFill = "#fafbfc";
inline constexpr const char* kStreamLine = "#dde3ea";
inline constexpr const char* kStreamFill = "#f1f4f7";

// A quoted string: what it holds stands as it is, in attributes where Graphviz expands \N as well.
std::string DotQuoted(std::string_view text);

}  // namespace graphkit
