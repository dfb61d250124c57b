#include "libgraphkit/io/import/torch/torch_snapshot_trace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

namespace graphkit {
namespace {

constexpr Address kBase = 0x7f0000000000;
constexpr Bytes kMiB = Bytes{1} << 20;

TorchSnapshot ReadSample(const std::string& name) {
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(
      ReadFile(std::string(GRAPHKIT_TESTDATA) + "/torch-snapshots/" + name + ".pickle")->text);
  REQUIRE_MESSAGE(snapshot.has_value(), Describe(snapshot.error()));
  return std::move(*snapshot);
}

TorchEvent Event(TorchAction action, Address address, Bytes size, int64_t time_us = 1000,
                 uint64_t stream = 7) {
  TorchEvent event;
  event.action = action;
  event.address = address;
  event.size = size;
  event.stream = stream;
  event.time_us = time_us;
  return event;
}

// One segment of 20 MiB, whole at the end, with these blocks in use; and these events.
TorchSnapshot Snapshot(std::vector<TorchEvent> events, TorchPoolId pool = {},
                       std::vector<TorchBlock> blocks = {}) {
  TorchSnapshot s;
  s.pools.push_back({});
  TorchSegment segment;
  segment.address = kBase;
  segment.total_size = 20 * kMiB;
  segment.stream = 7;
  if (pool != TorchPoolId{}) {
    s.pools.push_back(pool);
    segment.pool = 1;
  }
  segment.blocks = {0, static_cast<uint32_t>(blocks.size())};
  s.blocks = std::move(blocks);
  s.segments.push_back(segment);
  s.devices.push_back({0, static_cast<uint32_t>(events.size())});
  s.events = std::move(events);
  return s;
}

TorchBlock InUse(Address address, Bytes size) {
  return {.address = address,
          .size = size,
          .requested_size = size,
          .state = TorchBlockState::kActive,
          .stack = {}};
}

// Reads back as itself, so that it is a sound trace.
Trace WrittenAndRead(const Trace& trace) {
  const Result<std::string> text = FormatTrace(trace);
  REQUIRE_MESSAGE(text.has_value(), Describe(text.error()));
  Result<Trace> again = ParseTrace(*text, "test");
  REQUIRE_MESSAGE(again.has_value(), Describe(again.error()));
  CHECK(*again == trace);
  return std::move(*again);
}

// Of the trace: what is there at its end.
struct AtEnd {
  Bytes reserved = 0;
  Bytes requested = 0;
  size_t blocks = 0;
  bool operator==(const AtEnd&) const = default;
};

AtEnd SumUpEnd(const Trace& trace) {
  AtEnd end;
  for (const Segment& segment : trace.segments) {
    if (segment.freed == kNever) end.reserved += segment.size;
  }
  for (const Block& block : trace.blocks) {
    if (trace[block.pool].kind == PoolKind::kDevice || block.freed()) continue;
    end.requested += block.size;
    ++end.blocks;
  }
  return end;
}

// Sums by Python's pickle module, as torch.cuda._memory_viz adds them up.
TEST_CASE("the totals of recorded snapshots are torch's own, in the summary and in the trace") {
  const auto totals = [](const char* name) {
    const SnapshotTrace made = TraceOfSnapshot(ReadSample(name));
    const AtEnd end = SumUpEnd(WrittenAndRead(made.trace));
    CHECK(end == AtEnd{made.totals.reserved, made.totals.requested, made.totals.active_blocks});
    return made.totals;
  };
  CHECK(totals("transformer_forward") ==
        SnapshotTotals{1, 1722, 47234154496, 44607570432, 43727739906, 3478, 8948, 0});
  CHECK(totals("transformer_inference") ==
        SnapshotTotals{1, 96, 4238344192, 3072871424, 3064418304, 447, 6486, 0});
  CHECK(totals("transformer_small") ==
        SnapshotTotals{1, 216, 14180941824, 1377753600, 1373919236, 229, 5163, 0});
  CHECK(totals("transformer_step") ==
        SnapshotTotals{1, 999, 23842521088, 16019091968, 15568596996, 1313, 19464, 0});
}

TEST_CASE("a block is allocated, freed and allocated again") {
  const Trace trace = WrittenAndRead(
      TraceOfSnapshot(Snapshot({Event(TorchAction::kAlloc, kBase, 3 * kMiB, 10),
                                Event(TorchAction::kFreeRequested, kBase, 3 * kMiB, 20),
                                Event(TorchAction::kFreeCompleted, kBase, 3 * kMiB, 20),
                                Event(TorchAction::kAlloc, kBase, kMiB, 30)},
                               {}, {InUse(kBase, kMiB)}))
          .trace);
  REQUIRE(trace.blocks.size() == 3);  // the segment's memory is one
  CHECK(trace.blocks[1].size == 3 * kMiB);
  CHECK(trace.blocks[1].free_completed == trace.blocks[1].free_requested);
  CHECK(trace.blocks[1].free_requested < trace.blocks[2].allocated);
  CHECK_FALSE(trace.blocks[2].freed());
  CHECK(trace.blocks[2].segment == SegmentId(0u));
  CHECK(trace.times[trace.blocks[2].allocated] - trace.times[trace.blocks[1].allocated] == 20'000);
  CHECK(IsComplete(trace));
}

TEST_CASE("a free that completes later is deferred") {
  const Trace trace =
      WrittenAndRead(TraceOfSnapshot(Snapshot({Event(TorchAction::kAlloc, kBase, kMiB),
                                               Event(TorchAction::kFreeRequested, kBase, kMiB),
                                               Event(TorchAction::kAlloc, kBase + kMiB, kMiB),
                                               Event(TorchAction::kFreeCompleted, kBase, kMiB)},
                                              {}, {InUse(kBase + kMiB, kMiB)}))
                         .trace);
  CHECK(trace.blocks[1].free_requested < trace.blocks[2].allocated);
  CHECK(trace.blocks[2].allocated < trace.blocks[1].free_completed);
  CHECK(trace.blocks[1].free_completed != kNever);
}

TEST_CASE("a private pool is a graph from its first allocation to its last") {
  const Trace trace = WrittenAndRead(
      TraceOfSnapshot(Snapshot({Event(TorchAction::kAlloc, kBase, kMiB),
                                Event(TorchAction::kFreeRequested, kBase, kMiB),
                                Event(TorchAction::kFreeCompleted, kBase, kMiB),
                                Event(TorchAction::kAlloc, kBase + kMiB, kMiB),
                                Event(TorchAction::kFreeRequested, kBase + kMiB, kMiB),
                                Event(TorchAction::kFreeCompleted, kBase + kMiB, kMiB)},
                               {3, 0}))
          .trace);
  REQUIRE(trace.graphs.size() == 1);
  CHECK(trace[trace.graphs[0].name] == "private pool (3, 0)");
  CHECK(trace.graphs[0].origin == GraphOrigin::kImported);
  REQUIRE(trace.captures.size() == 1);
  const Capture& capture = trace.captures[0];
  CHECK(capture.begin < trace.blocks[1].allocated);
  CHECK(trace.blocks[2].allocated < capture.end);
  CHECK(capture.end < trace.blocks[2].free_requested);
  CHECK(trace.blocks[2].graph == GraphId(0u));
  // Something ran between the first block's allocation and its free.
  REQUIRE(trace.nodes.size() == 1);
  CHECK(trace.nodes[0].kind == NodeKind::kUnknown);
  CHECK(trace.nodes[0].source == Source::kDerived);
  CHECK(trace.nodes[0].seq < trace.blocks[1].free_requested);
}

TEST_CASE("a deferred block of a private pool was used on a stream that isn't known") {
  const Trace trace =
      WrittenAndRead(TraceOfSnapshot(Snapshot({Event(TorchAction::kAlloc, kBase, kMiB),
                                               Event(TorchAction::kFreeRequested, kBase, kMiB),
                                               Event(TorchAction::kAlloc, kBase + kMiB, kMiB),
                                               Event(TorchAction::kFreeCompleted, kBase, kMiB)},
                                              {3, 0}, {InUse(kBase + kMiB, kMiB)}))
                         .trace);
  REQUIRE(trace.block_streams.size() == 1);
  CHECK(trace.block_streams[0].block == BlockId(1u));
  CHECK(trace[trace[trace.block_streams[0].stream].name] == "not in the snapshot");
}

TEST_CASE("what was there before the first event is there at the start") {
  const SnapshotTrace made =
      TraceOfSnapshot(Snapshot({Event(TorchAction::kFreeRequested, kBase, kMiB),
                                Event(TorchAction::kFreeCompleted, kBase, kMiB)},
                               {}, {InUse(kBase + kMiB, 2 * kMiB)}));
  const Trace trace = WrittenAndRead(made.trace);
  REQUIRE(trace.blocks.size() == 3);
  CHECK(trace.blocks[1].address == kBase);
  CHECK(trace.blocks[1].freed());
  CHECK(trace.blocks[2].address == kBase + kMiB);
  CHECK_FALSE(trace.blocks[2].freed());
}

// PyTorch keeps the stacks of blocks over recordings: the history may be whole.
TEST_CASE("a block with a stack and without an allocation doesn't make the history incomplete") {
  TorchSnapshot s = Snapshot({Event(TorchAction::kAlloc, kBase, kMiB)}, {},
                             {InUse(kBase, kMiB), InUse(kBase + kMiB, kMiB)});
  s.frames = {{s.strings.Intern("f"), s.strings.Intern("f.py"), 3}};
  s.stack_frames = {0};
  s.stacks = {{0, 1}};
  s.events[0].stack = StackId(0u);
  s.blocks[1].stack = StackId(0u);
  CHECK(IsComplete(TraceOfSnapshot(s).trace));
}

// Large blocks: a rest of at most 1 MiB isn't split off.
//
//     |<- 3 MiB - 512 B ->|.|<- 2 MiB ->|<------- 15 MiB free ------->|
TEST_CASE("a block has what its allocator handed out for it") {
  const SnapshotTrace made =
      TraceOfSnapshot(Snapshot({Event(TorchAction::kSegmentAlloc, kBase, 20 * kMiB),
                                Event(TorchAction::kAlloc, kBase, 3 * kMiB),
                                Event(TorchAction::kAlloc, kBase + 3 * kMiB, 2 * kMiB),
                                Event(TorchAction::kFreeRequested, kBase, 3 * kMiB),
                                Event(TorchAction::kFreeCompleted, kBase, 3 * kMiB),
                                Event(TorchAction::kAlloc, kBase, 3 * kMiB - 600)},
                               {}, {InUse(kBase, 3 * kMiB), InUse(kBase + 3 * kMiB, 2 * kMiB)}));
  const Trace trace = WrittenAndRead(made.trace);
  REQUIRE(trace.blocks.size() == 4);
  CHECK(trace.blocks[1].slack == 0);
  CHECK(trace.blocks[2].slack == 0);
  CHECK(trace.blocks[3].size == 3 * kMiB - 600);
  CHECK(trace.blocks[3].slack == 512);
}

TEST_CASE("pages are mapped into and out of an expandable segment") {
  TorchSnapshot s = Snapshot({Event(TorchAction::kSegmentMap, kBase, 20 * kMiB),
                              Event(TorchAction::kSegmentMap, kBase + 20 * kMiB, 20 * kMiB),
                              Event(TorchAction::kSegmentUnmap, kBase + 10 * kMiB, 20 * kMiB)});
  s.segments[0].total_size = 10 * kMiB;
  TorchSegment tail = s.segments[0];
  tail.address = kBase + 30 * kMiB;
  s.segments.push_back(tail);
  const Trace trace = WrittenAndRead(TraceOfSnapshot(s).trace);
  std::vector<Interval<Address>> left;
  for (const Segment& segment : trace.segments) {
    if (segment.freed != kNever) continue;
    left.push_back({segment.address, segment.address + segment.size});
  }
  std::ranges::sort(left, {}, &Interval<Address>::begin);
  CHECK(left == std::vector<Interval<Address>>{{kBase, kBase + 10 * kMiB},
                                               {kBase + 30 * kMiB, kBase + 40 * kMiB}});
}

TEST_CASE("events of several devices are put in order by time") {
  TorchSnapshot s = Snapshot({Event(TorchAction::kAlloc, kBase, kMiB, 10),
                              Event(TorchAction::kAlloc, kBase + kMiB, kMiB, 30),
                              Event(TorchAction::kAlloc, kBase, 2 * kMiB, 20)});
  s.devices = {{0, 2}, {2, 1}};
  const Trace trace = WrittenAndRead(TraceOfSnapshot(s).trace);
  REQUIRE(trace.blocks.size() == 4);
  CHECK(trace.blocks[2].size == 2 * kMiB);
  CHECK(trace[trace.blocks[2].stream].device == 1);
  CHECK(trace[trace.blocks[3].stream].device == 0);
}

TEST_CASE("an allocation that the rest of the file contradicts is counted") {
  const SnapshotTrace made = TraceOfSnapshot(
      Snapshot({Event(TorchAction::kAlloc, kBase, kMiB), Event(TorchAction::kAlloc, kBase, kMiB)}));
  CHECK(made.totals.unmatched == 2);  // one overwritten, one neither freed nor there at the end
  CHECK_FALSE(IsComplete(WrittenAndRead(made.trace)));
}

TEST_CASE("frees of which one event was left out are frees, and the trace is incomplete") {
  const TorchEvent alloc = Event(TorchAction::kAlloc, kBase, kMiB);
  const TorchEvent other = Event(TorchAction::kAlloc, kBase + kMiB, kMiB);
  for (const TorchAction left : {TorchAction::kFreeRequested, TorchAction::kFreeCompleted}) {
    const TorchEvent free = Event(left, kBase, kMiB);
    const SnapshotTrace made = TraceOfSnapshot(
        Snapshot({alloc, free, other, alloc}, {}, {InUse(kBase, kMiB), InUse(kBase + kMiB, kMiB)}));
    const Trace trace = WrittenAndRead(made.trace);
    CHECK(made.totals.requests_skipped == (left == TorchAction::kFreeCompleted));
    CHECK(made.totals.completions_skipped == (left == TorchAction::kFreeRequested));
    CHECK(made.totals.unmatched == 0);
    CHECK_FALSE(IsComplete(trace));
    REQUIRE(trace.blocks.size() == 4);
    CHECK(trace.blocks[1].free_completed < trace.blocks[2].allocated);
    CHECK_FALSE(trace.blocks[3].freed());
  }
}

TEST_CASE("a free that is still held back at the end is no event left out") {
  TorchSnapshot s = Snapshot(
      {Event(TorchAction::kAlloc, kBase, kMiB), Event(TorchAction::kFreeRequested, kBase, kMiB)},
      {}, {InUse(kBase, kMiB)});
  s.blocks[0].state = TorchBlockState::kPendingFree;
  const SnapshotTrace made = TraceOfSnapshot(s);
  CHECK_FALSE(made.totals.completions_skipped);
  CHECK(made.trace.blocks[1].free_completed == kNever);
  CHECK(IsComplete(WrittenAndRead(made.trace)));
}

TEST_CASE("some frees that never complete, though the memory was handed out again, are counted") {
  const SnapshotTrace made = TraceOfSnapshot(Snapshot(
      {Event(TorchAction::kAlloc, kBase, kMiB), Event(TorchAction::kFreeRequested, kBase, kMiB),
       Event(TorchAction::kAlloc, kBase, kMiB), Event(TorchAction::kFreeRequested, kBase, kMiB),
       Event(TorchAction::kFreeCompleted, kBase, kMiB)}));
  CHECK_FALSE(made.totals.completions_skipped);
  CHECK(made.totals.unmatched == 1);
}

TEST_CASE("the allocator's settings are those in force") {
  const auto environment = [](TorchSettings settings) {
    TorchSnapshot s = Snapshot({});
    s.settings = std::move(settings);
    return TraceOfSnapshot(s).trace.process.environment;
  };
  CHECK(environment({}).empty());
  CHECK(environment({.known = true}) == std::vector<std::string>{"PYTORCH_CUDA_ALLOC_CONF="});
  CHECK(environment({.conf = "expandable_segments:True",
                     .expandable_segments = true,
                     .graph_capture_record_stream_reuse = true,
                     .known = true}) ==
        std::vector<std::string>{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,"
                                 "graph_capture_record_stream_reuse:True"});
}

TEST_CASE("a snapshot without a history says so") {
  const Trace trace = WrittenAndRead(TraceOfSnapshot(Snapshot({}, {}, {InUse(kBase, kMiB)})).trace);
  CHECK(trace.blocks.size() == 2);
  REQUIRE(trace.completeness.notes.size() == 1);
  CHECK(trace.completeness.notes[0].starts_with("the snapshot has no history of events"));
}

TEST_CASE("what the user and the allocator say of allocations becomes ranges") {
  TorchSnapshot s = Snapshot({Event(TorchAction::kAlloc, kBase, kMiB),
                              Event(TorchAction::kAlloc, kBase + kMiB, kMiB),
                              Event(TorchAction::kAlloc, kBase + 2 * kMiB, kMiB)});
  s.events[1].metadata = s.strings.Intern("step 1");
  s.events[2].metadata = s.strings.Intern("step 2");
  s.events[2].internal = s.strings.Intern("mallocWithAddress");
  const Trace trace = WrittenAndRead(TraceOfSnapshot(s).trace);
  REQUIRE(trace.nvtx_ranges.size() == 3);
  CHECK(trace[trace.nvtx_ranges[2].domain] == "internal_metadata");
  CHECK(trace[trace.nvtx_ranges[2].name] == "mallocWithAddress");
  const NvtxRange& first = trace.nvtx_ranges[0];
  CHECK(trace[first.domain] == "user_metadata");
  CHECK(trace[first.name] == "step 1");
  CHECK(trace.blocks[1].allocated < first.begin);
  CHECK(first.begin < trace.blocks[2].allocated);
  CHECK(trace.blocks[2].allocated < first.end);
  CHECK(trace[trace.nvtx_ranges[1].name] == "step 2");
  CHECK(trace.nvtx_ranges[1].end == kNever);
}

TEST_CASE("an annotated tensor has a range until its free, whatever other events carry") {
  TorchSnapshot s = Snapshot(
      {Event(TorchAction::kAlloc, kBase, kMiB), Event(TorchAction::kAnnotate, kBase, kMiB),
       Event(TorchAction::kAnnotate, kBase, kMiB), Event(TorchAction::kAlloc, kBase + kMiB, kMiB),
       Event(TorchAction::kFreeRequested, kBase, kMiB),
       Event(TorchAction::kFreeCompleted, kBase, kMiB)});
  s.events[1].metadata = s.strings.Intern("saved for backward");
  s.events[2].metadata = s.strings.Intern("of layer 3");
  const Trace trace = WrittenAndRead(TraceOfSnapshot(s).trace);
  REQUIRE(trace.nvtx_ranges.size() == 2);
  for (const NvtxRange& range : trace.nvtx_ranges) {
    CHECK(trace[range.domain] == "annotate 0x7f0000000000");
    CHECK(range.begin < trace.blocks.back().allocated);
    CHECK(trace.blocks.back().allocated < range.end);
    CHECK(range.end != kNever);
  }
  CHECK(trace[trace.nvtx_ranges[1].name] == "of layer 3");
}

TEST_CASE("what the profiler marked becomes ranges") {
  TorchSnapshot s = Snapshot({Event(TorchAction::kAlloc, kBase, kMiB, 100),
                              Event(TorchAction::kAlloc, kBase + kMiB, kMiB, 200)});
  const StringId one = s.strings.Intern("ProfilerStep#1"), two = s.strings.Intern("ProfilerStep#2");
  s.annotations = {{one, 90}, {one, 150, true}, {two, 150}};
  const Trace trace = WrittenAndRead(TraceOfSnapshot(s).trace);
  REQUIRE(trace.nvtx_ranges.size() == 2);
  const NvtxRange& first = trace.nvtx_ranges[0];
  const NvtxRange& second = trace.nvtx_ranges[1];
  CHECK(trace[first.domain] == "profiler");
  CHECK(trace[first.name] == "ProfilerStep#1");
  CHECK(first.begin < trace.blocks[1].allocated);
  CHECK(trace.blocks[1].allocated < first.end);
  CHECK(first.end < second.begin);
  CHECK(second.begin < trace.blocks[2].allocated);
  CHECK(second.end == kNever);
}

TEST_CASE("running out of memory is a failure") {
  const Trace trace =
      WrittenAndRead(TraceOfSnapshot(Snapshot({Event(TorchAction::kOom, 0, 90 * kMiB)})).trace);
  REQUIRE(trace.failures.size() == 1);
  CHECK(trace[trace.failures[0].call] == "cudaMalloc");
  CHECK(trace.failures[0].error == 2);
}

}  // namespace
}  // namespace graphkit
