#include "libgraphkit/render/dot/style.h"

#include <array>

#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

constexpr const char* kRound = "rounded,filled";
constexpr const char* kPlain = "filled";

// In the order of NodeKind; the last row is for kinds that aren't known.
constexpr std::array<NodeLook, kNodeKindCount + 1> kNodeLooks = {{
    {"box", kRound, "#e2ecf7", "#5b84b1"},       // kernel
    {"box", kPlain, "#e2f0e4", "#62996b"},       // memcpy
    {"box", kPlain, "#eef3dc", "#8f9f52"},       // memset
    {"note", kPlain, "#f5ecdb", "#ad8a50"},      // host
    {"folder", kPlain, "#ece5f5", "#8a73ae"},    // child graph
    {"ellipse", kPlain, "#f6f6f6", "#9aa2ab"},   // empty
    {"ellipse", kPlain, "#f7e6ee", "#b3708f"},   // event wait
    {"ellipse", kPlain, "#f7e6ee", "#b3708f"},   // event record
    {"ellipse", kPlain, "#e6e6f4", "#7d7db3"},   // semaphore signal
    {"ellipse", kPlain, "#e6e6f4", "#7d7db3"},   // semaphore wait
    {"cylinder", kPlain, "#fdf0d0", "#c2942c"},  // memory alloc
    {"cylinder", kPlain, "#fae3d7", "#c0714a"},  // memory free
    {"box", kPlain, "#e8eef0", "#6f8a94"},       // batch memory operation
    {"hexagon", kPlain, "#def0ef", "#4c9493"},   // conditional
    {"box", kPlain, "#ffffff", "#9aa2ab"},       // unknown
}};

constexpr EdgeLook kFull = {"full", "solid", "normal", "#4c5866", "———▸"};
constexpr EdgeLook kProgrammatic = {"programmatic: starts before the other ends", "dashed",
                                    "onormal", "#2f6fb2", "– – –▹"};
constexpr EdgeLook kLaunchCompletion = {"launch completion: starts when the other has begun",
                                        "dotted", "onormal", "#a0529c", "· · · ·▹"};

}  // namespace

const NodeLook& LookOf(NodeKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kNodeKindCount ? kNodeLooks[index] : kNodeLooks[kNodeKindCount];
}

const EdgeLook& LookOf(uint8_t from_port, EdgeType type) {
  if (from_port == kPortLaunchCompletion) return kLaunchCompletion;
  if (from_port == kPortDefault && type == EdgeType::kDefault) return kFull;
  return kProgrammatic;
}

std::string DotQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace graphkit
