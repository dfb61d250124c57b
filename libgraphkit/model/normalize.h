// What two runs of one program have in common: a trace without what differs from run to run.
#pragma once

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The trace with
//   * addresses counted from a fixed one: pieces of memory that overlap (a segment and its blocks,
//     a block and what lay there before) keep their distances, everything else is laid out in the
//     order of the records;
//   * handles and thread ids numbered in the order of the records (0 stays 0), tool ids 0;
//   * no process id, clocks' values, times and durations; versions and device names left out;
//   * of the program, of stack frames' files and of libraries only the last part of the path, and
//   of
//     stacks no line numbers.
// Its records, ids and order stay. Two traces of one program are alike if and only if their
// normalized traces are equal.
Trace Normalize(Trace trace);

}  // namespace graphkit
