// Runs one check on a trace made by hand.
#pragma once

#include <string_view>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "tests/analysis/pieces.h"

namespace graphkit {

// As if every kernel's arguments had been read, and the trace went on to the program's end.
std::vector<Finding> Run(std::string_view check, TraceBuilder* trace);
std::vector<Finding> Run(std::string_view check, Ran trace);

// The one finding; an empty one when there isn't exactly one.
Finding RunForOne(std::string_view check, TraceBuilder* trace);

// As a memory history has it: without the work that used the blocks.
Ran OfHistory(Ran trace);

// A capture with PyTorch's habits: a block of stream a that stream b reads, freed when b's work was
// captured, its memory given back when the capture ends.
//
//     a:  malloc x ── write x ─ record ─────────── [join] ── …
//     b:                           └── read x ──────┘
struct CrossedBlock : TwoStreams {
  GraphId graph;
  BlockId x;
  NodeId write;
  NodeId read;

  CrossedBlock();
  void Join() { t.Order(b, a); }
  // A block of stream a, touched and freed.
  BlockId Allocate(Bytes size);
  void End();  // completes what was requested
  std::vector<BlockId> requested;
  void Request(BlockId block);
};

}  // namespace graphkit
