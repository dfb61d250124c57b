#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_run.h"

namespace graphkit {

inline PredictionScore Score(const TorchSnapshot& snapshot) {
  Result<PredictionScore> score = PredictRecorded(snapshot, 0);
  REQUIRE_MESSAGE(score.has_value(), Describe(score.error()));
  return std::move(*score);
}

inline uint64_t AllocationsIn(const TorchSnapshot& s) {
  return static_cast<uint64_t>(
      std::ranges::count(s.events, TorchAction::kAlloc, &TorchEvent::action));
}

// All that is judged is predicted; returns how many allocations were.
inline uint64_t JudgedRightly(const TorchSnapshot& snapshot) {
  const PredictionScore score = Score(snapshot);
  CHECK(score.misses == std::vector<PredictionMiss>{});
  CHECK(score.addresses_hit == score.addresses);
  CHECK(score.segments_hit == score.segments);
  const NotJudged& left = score.not_judged;
  CHECK(score.addresses + left.events() >= AllocationsIn(snapshot));
  return score.addresses;
}

}  // namespace graphkit
