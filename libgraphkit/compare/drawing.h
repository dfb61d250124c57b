// The difference of two graphs, as one graph to draw: the nodes that changed, those around them,
// and the edges between them. What is the same and far from any change is left out.
//
//     before   a ─── b ─── x ─── c            drawn    a' ─── b' ─×─ x- ─×─ c'
//     after    a ─── b ─── c                                   ╰──── + ────╯
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/model/names.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

enum class Change : uint8_t { kSame, kRemoved, kAdded, kChanged, kMoved };
GRAPHKIT_NAMES(Change, "same", "removed", "added", "changed", "moved")

struct DiffBox {
  NodeId before;  // none: added
  NodeId after;   // none: removed
  Change change = Change::kSame;
  std::vector<std::string> what = {};  // "grid 64 → 8", "stream 1 → stream 0"
};

struct DiffArrow {
  uint32_t from = 0;  // in DiffDrawing::boxes
  uint32_t to = 0;
  EdgeId before;  // none: added
  EdgeId after;   // none: removed
  Change change = Change::kSame;
};

struct DiffDrawing {
  std::vector<DiffBox> boxes;  // in capture order; removed ones where they were
  std::vector<DiffArrow> arrows;
  uint64_t left_out = 0;  // boxes that changed and aren't drawn, for there are too many
};

// One for each graph of the diff that isn't equal, in its order.
std::vector<DiffDrawing> DrawDiff(const TraceDiff& diff, const Trace& before, const Trace& after);

}  // namespace graphkit
