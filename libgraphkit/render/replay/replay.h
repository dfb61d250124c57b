// Results of policies on a trace: a table for people, and JSON, schema "graphkit-replay", version 1
// (docs/replay.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>

#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/replay/recorded.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

struct ReplayView {
  bool verify = false;                 // the placements were looked at
  std::optional<Bytes> capacity = {};  // what there was to be had
  Collateral collateral = {};          // held back outside of graphs by defer and pytorch
};

void RenderReplayText(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Trace& trace, const TextOut& out);
void RenderReplayJson(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Trace& trace, std::ostream& out);

// Bytes after each malloc and free: JSON, schema "graphkit-timeline", version 1.
void RenderTimelineJson(std::span<const PolicyReplay> replays, const Trace& trace,
                        std::ostream& out);

// The first allocation that the capacity was too small for; null: it was enough.
const OutOfMemory* RanOut(const PolicyReplay& replay);

// Faults found by verifying and executing a replay: which blocks got in each other's way, and the
// order that is missing.
void RenderReplayFaults(std::span<const PolicyReplay> replays, const Trace& trace,
                        std::ostream& out);

// Of the policy, plan or allocator.
const char* ReplayName(const PolicyReplay& replay);

// How well the allocator's model predicted a recorded run: for people, and as JSON, schema
// "graphkit-prediction", version 1 (docs/replay.md).
struct DevicePrediction {
  size_t device = 0;
  PredictionScore score;
  bool operator==(const DevicePrediction&) const = default;
};

// kPartlyJudged: all that was judged is predicted.
enum class PredictionOutcome : uint8_t { kPredicted, kMissed, kPartlyJudged, kNothingToJudge };
PredictionOutcome OutcomeOf(std::span<const DevicePrediction> devices);

void RenderPredictionText(std::span<const DevicePrediction> devices, std::ostream& out);
void RenderPredictionJson(std::span<const DevicePrediction> devices, std::ostream& out);

// Policies that placed the blocks of captures as the recorded allocator did: for people, and as
// JSON, schema "graphkit-placements", version 1 (docs/replay.md).
struct PolicyPlacements {
  PolicyKind policy = PolicyKind::kReuse;
  RecordedPlacements found;
  bool operator==(const PolicyPlacements&) const = default;
};

void RenderPlacementsText(std::span<const PolicyPlacements> policies, const Trace& trace,
                          const TextOut& out);
void RenderPlacementsJson(std::span<const PolicyPlacements> policies, std::ostream& out);

// A recorded run under other settings of PyTorch's allocator: for people, and as JSON, schema
// "graphkit-what-if", version 1 (docs/replay.md).
void RenderWhatIfText(std::span<const WhatIf> devices, const TextOut& out);
void RenderWhatIfJson(std::span<const WhatIf> devices, std::ostream& out);

}  // namespace graphkit
