// Where in the program findings are: the lines that every view shows.
//
//     __device_stub…, cudaLaunchKernel    CUDA's own: left out
//     linear.py:134 forward               a library's
//     train.py:17 step                    the line of the finding
//
// A finding's places are those of its evidence with a stack, in their order; else that of the first
// block or node with one that it names.
#pragma once

#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Fills in `places` and `logical`.
void FindPlaces(const Ran& trace, std::vector<Finding>* findings);

// The line of a stack that a person wants to see: the innermost of the program's own code whose
// line is known, else the innermost of any, without CUDA's own; nothing: no line is known.
PlaceFrame LineOfStack(const Ran& trace, StackId stack);

}  // namespace graphkit
