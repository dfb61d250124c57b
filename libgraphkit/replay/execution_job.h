// A graph and its placement, ready to be executed in any order: its nodes, and
// which canaries each of them reads and writes.
//
// Memory is cut at every address where some block begins or ends; one canary stands for each
// stretch, since a placement treats all its bytes alike.
//
//     block x   |---------------|
//     block y           |----------------|
//     canaries  |   0   |   1   |    2   |
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/slice.h"
#include "libgraphkit/model/executor_abi.h"

namespace graphkit {

struct ProgramTouch {
  static constexpr uint32_t kNoWriter = 0xffffffffu;

  uint32_t block = 0;           // in Program::blocks
  bool writes = false;          // otherwise it reads
  uint32_t writer = kNoWriter;  // the step that wrote before it in every order; none: unknown
};

struct ProgramStep {
  NodeId node;
  Slice touches;  // in Program::touches
  // A conditional: its bodies, of which one runs.
  std::vector<uint32_t> bodies;  // in Program::bodies
};

struct ProgramBlock {
  BlockId block;
  Slice canaries;     // in Program::stretches
  bool dies = false;  // otherwise none may take its bytes afterwards
};

// The bytes that a canary stands for.
struct ProgramStretch {
  Bytes offset = 0;  // pools lie one after the other
  Bytes size = 0;    // 0: behind a pool's last block
};

struct Program {
  std::vector<ProgramStep> steps;
  std::vector<ProgramTouch> touches;
  std::vector<std::vector<uint32_t>> bodies;  // steps of each body, what they hold included
  std::vector<ProgramBlock> blocks;
  std::vector<ProgramStretch> stretches;  // by canary
  size_t looks = 0;                       // nodes gone through to make it
};

// A graph's placement: by pool, in capture order.
using PlacedPools = std::span<const std::vector<PlacedBlock>>;

Program MakeProgram(const Facts& facts, const GraphSlice& slice, const BlockOrder& order,
                    PlacedPools pools);

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
  graphkit_job Job(uint32_t launches) const;
};

ExecutionJob MakeJob(const Facts& facts, const Program& program, const JobOptions& options);

// Executes a job on the host, in a legal order that a device would hardly ever take: nodes start
// and end one by one, and some of these, chosen at random, are held back as long as anything else
// can go on. What isn't ordered after them happens before them. A node that writes checks that no
// other one needs what lies there any more.
graphkit_job_outcome RunOnHost(const ExecutionJob& job, uint64_t seed);

}  // namespace graphkit
