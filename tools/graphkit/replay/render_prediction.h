// Results on a recorded run: how well a model or a policy predicts it, and what other settings
// would do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/replay/recorded.h"

namespace graphkit {

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

void RenderPlacementsText(std::span<const PolicyPlacements> policies, const Ran& trace,
                          const TextOut& out);
void RenderPlacementsJson(std::span<const PolicyPlacements> policies, std::ostream& out);

// A recorded run under other settings of PyTorch's allocator: for people, and as JSON, schema
// "graphkit-what-if", version 1 (docs/replay.md).
void RenderWhatIfText(std::span<const WhatIf> devices, const TextOut& out);
void RenderWhatIfJson(std::span<const WhatIf> devices, std::ostream& out);

}  // namespace graphkit
