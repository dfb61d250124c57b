// The memory of graphs before they are captured, for a server that sizes its cache first: from one
// or several traced captures of each kind of graph, the private memory and the execs of graphs of
// other sizes.
//
// The calls of the allocator are those of the nearest captured size, with the blocks' bytes as they
// grow over the captures; they go through the rules of PyTorch's caching allocator three times,
// with the least, the likeliest and the most bytes.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct EstimateOptions {
  std::vector<uint64_t> sizes;               // to estimate; each above 0
  std::vector<uint64_t> captured = {};       // that were captured, where the trace doesn't say
  std::optional<ExecModel> exec_model = {};  // none: the trace's own
};

Result<MemoryEstimate> EstimateMemory(const Trace& trace, const EstimateOptions& options);

// The same of those of the options' sizes (none: the sizes of the requests) that have the least
// padding within the budget, with one pool for all. Each size is charged with the growth of a pool
// that only the largest was captured into before, and with its execs.
Result<MemoryEstimate> EstimateWithin(const Trace& trace, EstimateOptions options,
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

}  // namespace graphkit
