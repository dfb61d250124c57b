// A program in one legal order, for a device or the host: nodes and edges of a graph that can be
// built as it is.
//
// Of each conditional one body is taken. What holds a graph becomes two nodes, around what it
// holds. A full edge a→b: b starts after a has ended. A partial one: b starts after a has started,
// and, if b is known to wait for its grid dependencies, ends after a has ended. Where there are no
// such edges it is left out: b then waits for what a waits for, and for a itself only if b is known
// to wait for its grid dependencies.
//
// The order is one that a device would hardly ever take: some nodes, chosen at random, come as late
// as they can.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/graphkit/replay/execution_program.h"
#include "tools/graphkit/replay/executor_abi.h"

namespace graphkit {

enum class PartialEdges : uint8_t { kNone, kBetweenKernels, kAll };

struct JobOptions {
  uint64_t seed = 1;
  PartialEdges partial = PartialEdges::kNone;  // that can be executed
  bool whole = false;    // every stretch with all its bytes; otherwise 8 of each
  uint32_t held_us = 0;  // how long a node that is held back stays
};

struct ExecutionJob {
  std::vector<graphkit_job_node> nodes;
  std::vector<graphkit_job_edge> edges;
  std::vector<graphkit_touch> touches;
  std::vector<graphkit_stretch> stretches;
  uint64_t memory = 0;
  uint64_t left_out = 0;        // partial edges
  uint64_t executed = 0;        // recorded nodes that it stands for
  std::vector<uint32_t> steps;  // by node: in Program::steps; none: what comes after all of them

  static constexpr uint32_t kNone = 0xffffffffu;
  graphkit_job Job() const;
};

ExecutionJob MakeJob(const Facts& facts, const Program& program, const JobOptions& options);

}  // namespace graphkit
