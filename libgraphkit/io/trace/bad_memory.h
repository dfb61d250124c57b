// Sizes and addresses that no machine has: a trace with them is damaged or made up. Beyond them
// sizes rounded up, ends of ranges and sums would wrap, and a figure would be wrong unseen.
#pragma once

#include <optional>
#include <string>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct BadMemory {
  std::string message;  // "block 3 has 2^56 bytes or more, …"
  Seq place = 0;        // the record that it stands in
};

// The first block, segment or access that is larger than memory can be, ends beyond 2^64, or with
// which all of its kind are together more than 2^62 bytes.
std::optional<BadMemory> FindBadMemory(const Trace& trace);

}  // namespace graphkit
