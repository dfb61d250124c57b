// Who has the bytes that are live at a graph's peak, by line of the program: kept in a baseline, so
// that a peak that grew is told by its lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// The most first, at most 32. Empty: no stack is known.
std::vector<LineBytes> PeakLines(const Ran& trace, const GraphSummary& graph);

// What lines have that had less of it before, the most first. Lines move when a file is edited:
// those with the same bytes in the same function are the same line.
//
//     before   20: 4 MiB   21: 2 MiB              after   20: 1 MiB   21: 4 MiB   22: 2 MiB
//     grown    20: 1 MiB
std::vector<LineBytes> GrownLines(std::span<const LineBytes> before,
                                  std::span<const LineBytes> after);

// "2 MiB at step.cu:22, 1 MiB at step.cu:30": the first three.
std::string LinesText(std::span<const LineBytes> lines);

}  // namespace graphkit
