// A recorded allocator run, taken apart for replaying: what the program did (sizes, streams,
// frees), what the driver answered, the state at the start, and, kept apart from all that, where
// the blocks really were.
//
// A snapshot holds the state at the end and the last events before it. The start is found by
// walking back: a block that is freed without having been allocated was live at the start, and so
// was one that lives at the end and was never allocated.
//
//   events     alloc A   free B   alloc C   free A          end: C, D
//   at start   B, D
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/torch_snapshot.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The memory that a recorded allocator held before the first event, and at any time: from what it
// holds at the end, event by event back.
//
//   end      [ segment ]        [ pages      ]
//   events   segment freed at x, pages mapped at y
//   start    [ segment ]   [x ] [ pages ]
//
// An expandable segment is a range for each stretch of pages, as in the snapshot.

// The knowledge of a range. Only what lies in known ranges can be predicted; leaving the others out
// changes nothing for it: a request takes the best of all blocks, so the best of fewer as well.
enum class RangeState : uint8_t {
  kKnown,
  kStartUnknown,  // what lay in it before the first event contradicts the file
  kPoolUnknown,   // given back during the run, and it can't be told whose it was
};

struct RecordedRange {
  uint64_t stream = 0;
  PoolHandle pool = 0;
  bool small = false;
  bool expandable = false;
  RangeState state = RangeState::kKnown;

  // True if two stretches of pages can be of one expandable segment.
  bool Joins(const RecordedRange& o) const {
    return expandable && o.expandable && stream == o.stream && pool == o.pool && small == o.small;
  }
};
using RecordedRanges = IntervalMap<RecordedRange>;

// The address space of an expandable segment, as far as its pages were mapped at any time.
struct ExpandableSpace {
  RecordedRange pages;
  Address begin = 0;
  Address end = 0;
};

struct RewoundRanges {
  RecordedRanges start;
  RecordedRanges ever;
  std::vector<ExpandableSpace> spaces;              // that there were at the start
  std::unordered_map<uint32_t, RecordedRange> got;  // by the event that got it from the driver
  std::vector<RecordedRange> left_out;  // expandable segments of which something can't be told
  bool pools_unknown = false;  // something was given back, and the file doesn't say whose it was
};
// Whose was what was given back without a word of its pool: the default pool's, but for what stands
// here. Pools that the file doesn't name have the numbers after those that it does. Of pages only
// the default pool is guessed: those of another one are unknown.
struct PoolGuess {
  static constexpr PoolHandle kUnknown = 0xffffffffu;
  bool default_pool = true;                // else nothing is guessed
  std::map<uint32_t, PoolHandle> of = {};  // by the event that gave it back
  uint32_t deduced = 0;                    // pools that the file doesn't name
};
RewoundRanges RewindRanges(const TorchSnapshot& snapshot, size_t device,
                           const CachingConfig& config, const PoolGuess& guess);

// Pages become one range with those of their segment that they overlap or touch.
void AddRange(RecordedRanges* ranges, Interval<Address> range, const RecordedRange& value);

// Marks all pages of the expandable segment as unknown, those that come as well.
void LeaveOutSpace(RewoundRanges* ranges, const RecordedRange& pages);
bool IsLeftOut(const RewoundRanges& ranges, const RecordedRange& pages);

// The address space that the pages, which were there at the start, belong to.
const ExpandableSpace& SpaceOf(const RewoundRanges& ranges, const RecordedRange& pages);

// One block from allocation to free. An end that isn't there lies outside of what was recorded.
struct RecordedLife {
  Address address = 0;
  Bytes requested = 0;
  uint64_t stream = 0;
  std::optional<uint32_t> alloc;           // event
  std::optional<uint32_t> free_requested;  // event
  std::optional<uint32_t> free_completed;  // event
  std::optional<uint32_t> final_block;     // index in TorchSnapshot::blocks: in use at the end
  bool repaired = false;                   // its end was recorded at another address

  bool at_start() const { return !alloc; }
  bool lost() const { return alloc && !free_requested && !final_block; }
};

// The lives of one device, in order of their first event; those without events last. An allocation
// whose address fits no free and no block at the end, and a free or block of the same size that
// fits no allocation, are one life: of two records that disagree one is wrong. Where several would
// fit, `reading` picks: 0 takes the likeliest, 1 the next, and so on. `segments`: all that there
// were at any time; where whole lives lie outside of them, the file lacks some, and what else lies
// outside isn't taken for wrong.
std::vector<RecordedLife> FindLives(const TorchSnapshot& snapshot, size_t device,
                                    const RecordedRanges& segments, uint32_t reading = 0);

// The contents of a recorded allocator's segments before the first event.

// The life of one block, from its allocation to its free: an index.
using LifeId = uint32_t;

struct RecordedStart {
  std::vector<SegmentState> segments;
  std::vector<LifeId> lives;  // for each used block of the segments, one after the other
  std::string why_unknown;    // of the first segment that is left out; empty: none is
  // Allocations whose addresses show where free memory began: the block before it, of which only
  // the size that was asked for is known, had a rest of up to 1 MiB that wasn't split off.
  std::vector<LifeId> shows_begin;
};

// The lives that were there at the start, in the ranges of it that are known. Ranges whose lives
// contradict each other are marked as unknown, and left out. In pools that are never split a block
// takes its whole segment.
RecordedStart FillStart(const CachingConfig& config, std::span<const PoolHandle> no_split,
                        std::span<const RecordedLife> lives,
                        std::span<const TorchBlock> final_blocks, RewoundRanges* ranges);

// An event that is judged. Where blocks were isn't said.
struct RecordedOperation {
  TorchAction action = TorchAction::kAlloc;
  bool restores = false;  // at a given place: cudagraph trees restore a pool's checkpoint
  uint32_t event = 0;     // place in the device's events
  LifeId life = 0;        // allocations and frees
  Bytes size = 0;         // kAlloc: as asked for; kOom, where it restores: rounded
  uint64_t stream = 0;
  PoolHandle pool = 0;  // but kFree…
  Address address = 0;  // of segments: the driver's answer, or what it got back
};

// Events that a file doesn't describe well enough to replay, by the reason.
struct NotJudged {
  uint64_t in_no_segment = 0;  // of blocks that lie in none of the segments
  uint64_t start_unknown = 0;  // in segments whose state before the first event can't be told
  uint64_t pool_unknown = 0;   // in segments that were given back, and may be of any pool
  uint64_t restored = 0;       // that took memory where a checkpoint said
  uint64_t size_unknown = 0;   // that took memory behind a block of the start with an unknown rest
  uint64_t age_unknown = 0;    // that only the age of segments of the start decides
  std::string why_unknown;     // of the first segment whose start is unknown; empty: none
  // Not those that were restored: there was nothing to predict.
  uint64_t events() const {
    return in_no_segment + start_unknown + pool_unknown + size_unknown + age_unknown;
  }
  bool operator==(const NotJudged&) const = default;
};

struct RecordedRun {
  CachingConfig config;
  uint32_t pools = 1;                     // the default pool and the private ones
  std::vector<PoolHandle> no_split = {};  // those whose blocks are never split
  std::vector<SegmentState> start;
  // For each used block of `start`, segment by segment: its life.
  std::vector<LifeId> start_lives;
  std::vector<LifeId> shows_begin;  // RecordedStart's
  std::vector<RecordedOperation> operations;
  uint32_t lives = 0;
  uint32_t repaired = 0;       // allocations whose recorded address fits nothing else in the file
  bool pools_unknown = false;  // RewoundRanges::pools_unknown
  NotJudged not_judged;        // what isn't among the operations
  // Where each life's block was; not for the model.
  std::vector<Address> recorded_addresses;
};

// Where a file leaves a choice.
struct RecordedReading {
  uint32_t ends = 0;     // FindLives'
  PoolGuess pools = {};  // RewindRanges'
  CachingConfig::Ties ties = CachingConfig::Ties::kLowest;
  std::vector<PoolHandle> no_split = {};  // pools whose blocks are never split
};

// An error: the snapshot has no such device. Segments that the file can't tell enough about are
// left out with all that lies in them (RangeState).
Result<RecordedRun> RewindSnapshot(const TorchSnapshot& snapshot, size_t device,
                                   const RecordedReading& reading = {});

// Replays a recorded run on the caching allocator's model and counts what the model predicted. The
// model is given the start, the sizes, streams and frees, and the driver's answers; never where a
// block was.

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

// Fails when a setting isn't known, or lacks the capacity that garbage_collection_threshold needs.
Result<WhatIf> ReplayWhatIf(const TorchSnapshot& snapshot, size_t device,
                            std::span<const std::string> settings,
                            std::optional<Bytes> capacity = {});

}  // namespace graphkit
