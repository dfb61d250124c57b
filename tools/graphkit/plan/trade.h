// `graphkit plan --trade`: waits and frees that would lower the peak, and their cost.
#pragma once

#include <string>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

// Of the trace in `file`, to `view`. Returns the exit code.
int WriteTrades(const std::string& file, MarkerRule rule, const View& view);

}  // namespace graphkit
