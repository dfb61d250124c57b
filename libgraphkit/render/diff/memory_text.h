// The part of a diff's text that is about memory:
//
//     peak reserved  13.2 GiB  →  9.80 GiB  −3.4 GiB
//     peak in use    13.0 GiB  →  9.61 GiB  −3.39 GiB
//     …
//     HELD AT THE PEAK              before     after     change
//       nn_utils.py:7  softmax    1.13 GiB       0 B  −1.13 GiB
//     …
//     WORTH A LOOK
//       + what only the run after has, - only the run before, ~ with other bytes
#pragma once

#include <string>

#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/render/diff/diff_side.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// "−3.39 GiB", "+512 B", "0 B".
std::string ChangeText(Bytes before, Bytes after);

// "nn_utils.py:7 → 9  softmax": who it is, and where the line was before.
std::string HolderChangeTitle(const HolderChange& change, const MemoryDiff& diff,
                              const DiffSide& before, const DiffSide& after);

// Nothing where one device is compared and equal.
void RenderMemoryDiff(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                      const TextOut& out);

}  // namespace graphkit
