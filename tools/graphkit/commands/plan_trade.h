// `graphkit plan --trade`: what less memory would cost.
#pragma once

#include <string>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/replay/trade.h"
#include "tools/graphkit/cli/options.h"

namespace graphkit {

// Returns the exit code.
int ShowTrade(const std::string& file, MarkerRule rule, const TradeOptions& options, Format format,
              const std::string& output);

}  // namespace graphkit
