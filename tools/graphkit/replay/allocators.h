// --allocator: policies, models, the recorded placement, a plan's file, or a library of one's own.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "libgraphkit/replay/replay_trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

void AddAllocators(CLI::App& app, std::vector<std::string>& words);

// The policies among the words; none given: all.
std::vector<PolicyKind> PoliciesIn(const std::vector<std::string>& words);

// Replays the policies, then the others in the order of the words.
Result<std::vector<PolicyReplay>> ReplayAllocators(const Facts& facts,
                                                   const std::vector<std::string>& words,
                                                   const ReplayOptions& options);

}  // namespace graphkit
