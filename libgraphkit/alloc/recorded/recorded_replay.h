// Replays a recorded run on the caching allocator's model and counts what the model predicted. The
// model is given the start, the sizes, streams and frees, and the driver's answers; never where a
// block was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "libgraphkit/result.h"

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

// A recorded run under other settings of PyTorch's caching allocator: what would be reserved.
//
//     recorded      what the segments of the file say
//     as recorded   the model under the recorded settings, with a driver of its own
//     changed       the model under other settings, with the same driver
//
// Both model runs begin empty: blocks from before the first event are allocated anew, by address,
// so that memory that was cached then isn't counted. Where the recorded run gave cached memory back
// (torch.cuda.empty_cache, a destroyed pool, lack of memory) the model does so as well.
//
// The figures of one allocator run.
struct AllocatorOutcome {
  Bytes peak_reserved = 0;
  Bytes reserved_at_end = 0;
  Bytes peak_in_use = 0;  // as the allocator rounds, deferred frees included
  uint64_t segments = 0;  // operations that got memory from the driver
  uint64_t failures = 0;  // allocations that found no memory
  bool operator==(const AllocatorOutcome&) const = default;
};

struct WhatIfRow {
  std::string settings;  // as given; empty: those that were recorded
  AllocatorOutcome outcome;
  bool operator==(const WhatIfRow&) const = default;
};

struct WhatIf {
  size_t device = 0;
  std::string recorded_settings = {};  // PYTORCH_ALLOC_CONF as recorded; empty: PyTorch's defaults
  AllocatorOutcome recorded = {};      // peak_in_use: of events, rounded to 512 B
  std::vector<WhatIfRow> rows = {};    // the recorded settings, then those that were asked for
  // The driver's memory: as given, else as failures for lack of memory show (what was reserved
  // then, and what the device had left for it); none: no limit.
  std::optional<Bytes> capacity = {};
  uint64_t left_out = 0;  // events in memory that the file doesn't tell enough about
};

// Fails when a setting isn't known, or needs a capacity (garbage_collection_threshold) and there is
// none.
Result<WhatIf> ReplayWhatIf(const TorchSnapshot& snapshot, size_t device,
                            std::span<const std::string> settings,
                            std::optional<Bytes> capacity = {});

// One run of the model; part of ReplayWhatIf.
AllocatorOutcome ReplayUnder(const RecordedRun& run, const CachingConfig& config,
                             std::optional<Bytes> capacity);

}  // namespace graphkit
