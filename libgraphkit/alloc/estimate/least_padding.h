// The sizes to capture: a request runs in the smallest captured size that holds it, and the rest of
// that size is padding.
//
//     requests   3 3 5 7          captured sizes 4, 8
//     padding    1 1 3 1
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/model/estimate.h"

namespace graphkit {

// A size that may be captured, and the memory that it takes.
struct SizeOption {
  uint64_t size = 0;
  Bytes bytes = 0;
};

struct LeastPadding {
  std::vector<uint64_t> sizes = {};  // ascending
  uint64_t padding = 0;              // of all requests together
  Bytes bytes = 0;
  bool operator==(const LeastPadding&) const = default;
};

// The sizes with the least padding whose bytes together are within the budget, and of those the
// fewest bytes. Exact. Both lists ascend by size; sizes times counts don't overflow. Nothing: no
// option holds the largest request within the budget.
std::optional<LeastPadding> FindLeastPadding(std::span<const SizeCount> requests,
                                             std::span<const SizeOption> options, Bytes budget);

}  // namespace graphkit
