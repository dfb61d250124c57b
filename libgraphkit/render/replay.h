// What policies make of a trace: a table for people, and JSON, schema "graphkit-replay", version 1
// (docs/replay.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// `verify`: whether the placements were looked at.
void RenderReplayText(std::span<const PolicyReplay> replays, bool verify, const Trace& trace,
                      std::ostream& out);
void RenderReplayJson(std::span<const PolicyReplay> replays, bool verify, const Trace& trace,
                      std::ostream& out);

}  // namespace graphkit
