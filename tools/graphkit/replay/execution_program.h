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

}  // namespace graphkit
