// The bytes of a block as a function of the size that its graph was captured for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct SizePoint {
  uint64_t size = 0;
  Bytes bytes = 0;
};

// A rule with one number (constant, proportional) is confirmed by a second capture, a line by a
// third. What isn't confirmed lies between growing with the size and not depending on it.
struct BlockGrowth {
  enum class Rule : uint8_t { kConstant, kProportional, kLinear, kUnsure };
  Rule rule = Rule::kUnsure;
  std::vector<SizePoint> points = {};  // ascending, each size once
  double offset = 0;
  double slope = 0;  // the likeliest bytes are offset + slope * size
  Bytes error = 0;   // a captured block was this far from it, at most
};

// At least one point. Of captures of one size the largest block counts.
BlockGrowth FitGrowth(std::vector<SizePoint> points);

ByteRange BytesAt(const BlockGrowth& growth, uint64_t size);

// The captures of a trace as a server made them: the same graphs again and again, for one size of
// batch after the other. Which graphs are alike, which size each was captured for, and what was
// asked of the allocator meanwhile.
//
//     round of 8   ╭ graph 0 ╮╭ graph 1 ╮       graphs 0 and 2 are of one kind, and 1 and 3:
//     round of 4   ╭ graph 2 ╮╭ graph 3 ╮       the same nodes, edges, allocations and frees

struct CapturedGraph {
  GraphId graph;
  StreamId stream = {};
  Seq begin = 0;
  Seq end = 0;
  std::vector<BlockId> blocks = {};  // that its capture allocated, in order
  uint32_t kind = 0;
  uint64_t size = 0;  // that it was captured for
};

// An allocation or a free of a round.
struct PoolCall {
  uint32_t graph = 0;  // of the round
  uint32_t block = 0;  // of the graph
  enum class What : uint8_t {
    kAllocate,
    kFree,
    kFreeAfterNext,   // while the next size was captured
    kFreeAtSomeTime,  // after the round: no other was captured that would say when
  } what = What::kAllocate;
};

struct CapturedRound {
  uint64_t size = 0;
  std::vector<uint32_t> graphs = {};  // in CapturedSizes::graphs, in their order
  std::vector<PoolCall> calls = {};
  bool has_next = false;  // another was captured after it
};

struct CapturedSizes {
  std::vector<CapturedGraph> graphs = {};  // in order of capture
  uint64_t given_up = 0;  // captures that were destroyed and made again later, and don't count
  uint32_t kinds = 0;
  std::vector<std::vector<BlockGrowth>> growth = {};  // by kind and block
  std::vector<CapturedRound> rounds = {};             // by size, ascending
  SizesFrom sizes_from = SizesFrom::kUser;
};

// `captured`: the sizes, as the user names them; empty: to be found. `roots`: of each graph.
Result<CapturedSizes> FindCapturedSizes(const Trace& trace, const std::vector<GraphId>& roots,
                                        std::span<const uint64_t> captured);

// Each block's choice out of its interval of bytes, in one run of the allocator. More bytes in
// blocks can be fewer in segments, so that the interval of a pool needs runs of several choices.

struct SizeChoice {
  std::vector<std::vector<Bytes ByteRange::*>> ends;  // by kind and block
  bool late = false;  // what isn't known to be freed is held for another round
};

// The likeliest of all blocks first, then the least and the most of all; then mixtures, in which
// blocks that had the same bytes in the captures are at the same end: a workspace stays as it is
// where the data grow. All mixtures of few such groups, some of many.
std::vector<SizeChoice> ChooseSizes(const CapturedSizes& captured);

}  // namespace graphkit
