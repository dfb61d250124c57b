// Copies that bring back, after a sleep, what some bytes held before it: to the same bytes, from
// where they were saved to, or from where they had been copied first.
//
//     work        copy x→s                          copy s→x
//     mappings    x: memory 1 ──── unmapped    x: memory 2, new
//                    └─ nothing writes x or s in between ─┘
//
// Both copies are of the same bytes as a whole. The host may change s unseen: it is assumed that it
// doesn't.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"

namespace graphkit {

// By work outside of graphs: indices of Trace::works.
struct RestoredCopies {
  std::vector<bool> restores;  // a copy that brings back what was there
  std::vector<bool> saves;     // one that saved it; nothing else that is recorded reads the copy
};
RestoredCopies FindRestoredCopies(const Facts& facts);

}  // namespace graphkit
