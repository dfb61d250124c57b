// Replays a recorded run on the caching allocator's model and counts what the model predicted. The
// model is given the start, the sizes, streams and frees, and the driver's answers; never where a
// block was.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_run.h"

namespace graphkit {

struct PredictionMiss {
  uint32_t event = 0;
  bool segment = false;   // a segment operation, else a block's address
  Address recorded = 0;   // 0: only the model asked the driver
  Address predicted = 0;  // 0: the model found no memory, or didn't ask the driver
  bool operator==(const PredictionMiss&) const = default;
};

// The model's answers, operation by operation.
struct PredictedRun {
  std::vector<Address> addresses;              // by life; 0: never allocated by the model
  std::vector<PredictionMiss> segment_misses;  // what one asked of the driver, the other didn't
  uint64_t segment_hits = 0;
  uint64_t segments_told = 0;  // given back, as the record told: their age isn't known
  // By life: what the record had to tell, as nothing else does.
  enum class Told : uint8_t { kNothing, kWhichBlock, kWhereItBegins };
  std::vector<Told> told;
};

PredictedRun ReplayRecorded(const RecordedRun& run);

struct PredictionScore {
  uint64_t addresses = 0;  // recorded allocations
  uint64_t addresses_hit = 0;
  uint64_t segments = 0;  // recorded segment operations, and those that only the model made
  uint64_t segments_hit = 0;
  std::vector<PredictionMiss> misses;  // by event
  NotJudged not_judged;

  bool perfect() const { return misses.empty(); }
  uint64_t open() const { return misses.size() + not_judged.events(); }
  bool nothing() const { return addresses == 0 && segments == 0; }  // was judged
  bool operator==(const PredictionScore&) const = default;
};

PredictionScore ComparePrediction(const RecordedRun& run, const PredictedRun& predicted);

// Rewinds, replays and compares. Of a file with records that contradict each other it takes, out of
// a few readings, the one that the model predicts best. Memory that was given back without a word
// of its pool counts as the default pool's, unless that leads to misses: then it is left out.
Result<PredictionScore> PredictRecorded(const TorchSnapshot& snapshot, size_t device);

}  // namespace graphkit
