// The memory of graphs before they are captured, for a server that sizes its cache first: from one
// or several traced captures of each kind of graph, the private memory and the execs of graphs of
// other sizes.
//
// The calls of the allocator are those of the nearest captured size, with the blocks' bytes as they
// grow over the captures; they go through the rules of PyTorch's caching allocator three times,
// with the least, the likeliest and the most bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct EstimateOptions {
  std::vector<uint64_t> sizes;               // to estimate; each above 0
  std::vector<uint64_t> captured = {};       // that were captured, where the trace doesn't say
  std::optional<ExecModel> exec_model = {};  // none: the trace's own
};

Result<MemoryEstimate> EstimateMemory(const Ran& trace, const EstimateOptions& options);

// The same of those of the options' sizes (none: the sizes of the requests) that have the least
// padding within the budget, with one pool for all. Each size is charged with the growth of a pool
// that only the largest was captured into before, and with its execs.
Result<MemoryEstimate> EstimateWithin(const Ran& trace, EstimateOptions options,
                                      const std::vector<SizeCount>& requests, Bytes budget);

// A size that may be captured, and the memory that it takes.
struct SizeOption {
  uint64_t size = 0;
  Bytes bytes = 0;
};

struct LeastPadding {
  std::vector<uint64_t> sizes = {};  // ascending
  uint64_t padding = 0;              // of all requests together
  Bytes bytes = 0;
};

// A request runs in the smallest captured size that holds it, and the rest of that size is padding.
// The sizes with the least padding whose bytes together are within the budget, and of those the
// fewest bytes. Exact. Both lists ascend by size. Nothing: no option holds the largest request
// within the budget.
std::optional<LeastPadding> FindLeastPadding(std::span<const SizeCount> requests,
                                             std::span<const SizeOption> options, Bytes budget);

// "1,2,4,8-64:8": numbers, and ranges with a step; ascending, each once.
Result<std::vector<uint64_t>> ParseSizes(std::string_view text);

// The bytes of a block as a function of the size that its graph was captured for.

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
Result<CapturedSizes> FindCapturedSizes(const Ran& trace, const std::vector<GraphId>& roots,
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
