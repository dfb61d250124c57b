// Faults found by verifying and executing a replay: which blocks got in each other's way, and the
// order that is missing.
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

void RenderReplayFaults(std::span<const PolicyReplay> replays, const Ran& trace, std::ostream& out);

}  // namespace graphkit
