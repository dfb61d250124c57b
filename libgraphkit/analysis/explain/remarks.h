// Remarks on a device's memory that are worth a look.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"

namespace graphkit {

// `account`: all but its remarks. Out of memory first, then the most bytes; nothing that is less
// than a fiftieth of the peak in use.
std::vector<MemoryRemark> FindRemarks(const MemoryFacts& facts, std::span<const StackName> names,
                                      const MemoryAccount& account);

}  // namespace graphkit
