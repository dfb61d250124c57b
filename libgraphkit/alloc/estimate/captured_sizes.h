// The captures of a trace as a server made them: the same graphs again and again, for one size of
// batch after the other. Which graphs are alike, which size each was captured for, and what was
// asked of the allocator meanwhile.
//
//     round of 8   ╭ graph 0 ╮╭ graph 1 ╮       graphs 0 and 2 are of one kind, and 1 and 3:
//     round of 4   ╭ graph 2 ╮╭ graph 3 ╮       the same nodes, edges, allocations and frees
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/alloc/estimate/block_sizes.h"
#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct CapturedGraph {
  GraphId graph;
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
  uint32_t kinds = 0;
  std::vector<std::vector<BlockGrowth>> growth = {};  // by kind and block
  std::vector<CapturedRound> rounds = {};             // by size, ascending
  SizesFrom sizes_from = SizesFrom::kUser;
};

// `captured`: the sizes, as the user names them; empty: to be found. `roots`: of each graph.
Result<CapturedSizes> FindCapturedSizes(const Trace& trace, const std::vector<GraphId>& roots,
                                        std::span<const uint64_t> captured);

}  // namespace graphkit
