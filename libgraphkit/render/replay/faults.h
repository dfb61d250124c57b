// What verifying and executing a replay found: which blocks got in each other's way, and the order
// that is missing.
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// Of the policy, plan or allocator.
const char* ReplayName(const PolicyReplay& replay);

void RenderReplayFaults(std::span<const PolicyReplay> replays, const Trace& trace,
                        std::ostream& out);

}  // namespace graphkit
