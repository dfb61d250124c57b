// The look of a drawing: shapes and colours by node kind, lines by edge kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/render/dot/drawing.h"

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

// The colour of each box, by whatever was asked for.
struct BoxColour {
  const char* fill;
  const char* line;
};

// By node: a key that says which of the scheme's colours it has: a kind, a stream, a pool (or
// kNoKey), one plus a severity (or 0), a class of durations.
std::vector<uint32_t> ColourNodes(const Ran& trace, const DotOptions& options);
inline constexpr uint32_t kNoKey = 0xffffffffu;

// Of several nodes in one box: the first's; by finding the worst, by duration the longest.
uint32_t KeyOfBox(const Box& box, const std::vector<uint32_t>& keys, ColourBy by);
BoxColour ColourOfKey(uint32_t key, ColourBy by);

// The program, the notes, and what the boxes and lines mean that occur: an HTML-like label.
std::string DotLegend(const Drawing& drawing, const std::vector<std::string>& notes);

}  // namespace graphkit
