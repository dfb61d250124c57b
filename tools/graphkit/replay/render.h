// Results of policies on a trace: a table for people, and JSON, schema "graphkit-replay", version 1
// (docs/replay.md).
#pragma once

#include <optional>
#include <ostream>
#include <span>

#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

struct ReplayView {
  bool verify = false;                 // the placements were looked at
  std::optional<Bytes> capacity = {};  // what there was to be had
  Collateral collateral = {};          // held back outside of graphs by defer and pytorch
};

void RenderReplayText(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Ran& trace, const TextOut& out);
void RenderReplayJson(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Ran& trace, std::ostream& out);

// Bytes after each malloc and free: JSON, schema "graphkit-timeline", version 1.
void RenderTimelineJson(std::span<const PolicyReplay> replays, const Ran& trace, std::ostream& out);

// The first allocation that the capacity was too small for; null: it was enough.
const OutOfMemory* RanOut(const PolicyReplay& replay);

// Of the policy, plan or allocator.
const char* ReplayName(const PolicyReplay& replay);

}  // namespace graphkit
