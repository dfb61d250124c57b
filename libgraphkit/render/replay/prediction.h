// How well the allocator's model predicted a recorded run: for people, and as JSON, schema
// "graphkit-prediction", version 1 (docs/replay.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

#include "libgraphkit/alloc/recorded/recorded_replay.h"

namespace graphkit {

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

}  // namespace graphkit
