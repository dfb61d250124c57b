// Small random traces with everything that bears on order: several captures at once, joins,
// programmatic and launch-completion edges, frontier rewinds, child graphs, conditional bodies,
// explicit graphs whose edges come late, edges and nodes that are taken away. Optionally with
// blocks that are allocated, touched, recorded on other streams and freed on the way.
#pragma once

#include <cstdint>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct RandomTraceOptions {
  int max_streams = 4;
  int max_steps = 16;
  bool partial_edges = true;  // programmatic, launch completion
  bool rewinds = true;
  bool nested = true;  // child graphs, bodies, explicit graphs
  bool memory = false;
  // Also pools of all kinds, segments, memory from outside graphs, frees that are completed later
  // or never, and durations.
  bool pools = false;
  double allocator_steps = 0;  // share of the steps that allocate or free, besides others that do
  double memory_nodes = 0.15;  // share of the blocks that have nodes for their allocation and free
};

Ran RandomTrace(uint64_t seed, const RandomTraceOptions& options = {});

}  // namespace graphkit
