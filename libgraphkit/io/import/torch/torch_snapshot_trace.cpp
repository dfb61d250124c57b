#include "libgraphkit/io/import/formats.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>

#include "libgraphkit/io/import/torch/snapshot_memory.h"
#include "libgraphkit/io/import/torch/snapshot_start.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

// Domains of ranges.
constexpr std::string_view kMetadata = "user_metadata";
constexpr std::string_view kProfiler = "profiler";

// Calls visit(device, event) for the events of all devices by time, those of one device in file
// order; visit returns how many events it took.
template <typename Visit>
void InTimeOrder(const TorchSnapshot& snapshot, Visit visit) {
  struct Next {
    int64_t time;
    uint32_t device;
    uint32_t event;
  };
  const auto later = [](const Next& a, const Next& b) {
    return std::pair(a.time, a.device) > std::pair(b.time, b.device);
  };
  std::priority_queue<Next, std::vector<Next>, decltype(later)> heads(later);
  const auto push = [&](uint32_t device, uint32_t event) {
    const Slice run = snapshot.devices[device];
    if (event >= run.count) return;
    heads.push({snapshot.events[run.first + event].time_us, device, event});
  };
  for (uint32_t device = 0; device < snapshot.devices.size(); ++device) push(device, 0);
  while (!heads.empty()) {
    const Next next = heads.top();
    heads.pop();
    uint32_t event = next.event;
    do {
      event += visit(next.device, event);
    } while (heads.empty() && event < snapshot.devices[next.device].count);
    push(next.device, event);
  }
}

class Converter {
 public:
  explicit Converter(const TorchSnapshot& snapshot)
      : s_(snapshot), memory_(snapshot), make_(memory_.make) {}

  SnapshotTrace Run() {
    AddSettings();
    SetBegin();
    AddStacks();
    Reserve();
    SumUp();
    for (uint32_t device = 0; device < totals_.devices; ++device) {
      const SnapshotStart start = FindStart(s_, device);
      totals_.unmatched += start.unmatched;
      totals_.requests_skipped |= start.requests_skipped;
      totals_.completions_skipped |= start.completions_skipped;
      completions_skipped_.push_back(start.completions_skipped);
      memory_.Start(device, start);
    }
    make_.trace.histories.push_back(
        {.devices = static_cast<uint32_t>(totals_.devices), .seq = make_.Next()});
    for (const Slice& run : s_.devices) places_.emplace_back().reserve(run.count);
    InTimeOrder(s_, [&](uint32_t device, uint32_t event) { return Take(device, event); });
    TakeAnnotations(INT64_MAX);
    memory_.TakeFinalSizes();
    AddNotes();
    for (size_t device = 0; device < places_.size(); ++device) {
      AppendHistoryEvents(&make_.trace, static_cast<int16_t>(device), places_[device]);
    }
    return {std::move(make_.trace), totals_};
  }

 private:
  // The variable as it would have to be set for what was in force: options may come from the
  // program itself. Empty says that PyTorch's defaults were.
  void AddSettings() {
    const TorchSettings& settings = s_.settings;
    if (!settings.known) return;
    std::string conf = settings.conf;
    const auto add = [&](bool on, std::string_view option) {
      if (!on || conf.find(option) != std::string::npos) return;
      conf += (conf.empty() ? "" : ",") + std::string(option) + ":True";
    };
    add(settings.expandable_segments, "expandable_segments");
    add(settings.graph_capture_record_stream_reuse, "graph_capture_record_stream_reuse");
    make_.trace.process.environment.push_back("PYTORCH_CUDA_ALLOC_CONF=" + conf);
  }

  void SetBegin() {
    int64_t first = INT64_MAX;
    for (const Slice& run : s_.devices) {
      if (run.count > 0) first = std::min(first, s_.events[run.first].time_us);
    }
    if (first > 0 && first < INT64_MAX / 1000) make_.SetBegin(first * 1000, true);
  }

  StringId Text(StringId id) {
    if (!id) return {};
    StringId& text = strings_[id.index()];
    if (!text) text = make_.Intern(s_.strings[id.index()]);
    return text;
  }

  // A stack of the snapshot has the same id in the trace.
  void AddStacks() {
    strings_.resize(s_.strings.size());
    Trace& trace = make_.trace;
    trace.stack_frames.reserve(s_.stack_frames.size());
    for (const uint32_t frame : s_.stack_frames) {
      const TorchFrame& f = s_.frames[frame];
      const StringId function = Text(f.function);
      trace.stack_frames.push_back({function, Text(f.file), f.line});
    }
    trace.stacks.reserve(s_.stacks.size());
    for (const Slice& run : s_.stacks) {
      trace.stacks.push_back({.frames = run, .created = make_.Next()});
    }
  }

  void Reserve() {
    const auto allocs = std::ranges::count(s_.events, TorchAction::kAlloc, &TorchEvent::action);
    make_.trace.blocks.rows().reserve(static_cast<size_t>(allocs) + s_.segments.size());
  }

  void SumUp() {
    totals_.devices = DeviceCount(s_);
    totals_.segments = s_.segments.size();
    totals_.events = s_.events.size();
    for (const TorchSegment& segment : s_.segments) totals_.reserved += segment.total_size;
    for (const TorchBlock& block : s_.blocks) {
      if (block.state != TorchBlockState::kActive) continue;
      ++totals_.active_blocks;
      totals_.allocated += block.size;
      totals_.requested += block.requested_size;
    }
  }

  // Takes an event, and with a free the completion that follows it; returns how many it took. An
  // event that nothing follows from keeps its place.
  uint32_t Take(uint32_t device, uint32_t index) {
    const TorchEvent& event = s_.events[s_.devices[device].first + index];
    uint32_t taken = 1;
    const Seq before = make_.trace.records;
    if (event.metadata != metadata_) TakeMetadata(event.metadata);
    if (annotation_ < s_.annotations.size()) TakeAnnotations(event.time_us);
    switch (event.action) {
      case TorchAction::kAlloc:
        memory_.Allocate(device, event);
        break;
      case TorchAction::kFreeRequested:
        TakeFree(device, index, &taken);
        break;
      case TorchAction::kFreeCompleted:
        if (totals_.requests_skipped) memory_.RequestFree(device, event, true);
        memory_.CompleteFree(device, event);
        break;
      case TorchAction::kSegmentAlloc:
      case TorchAction::kSegmentMap:
        memory_.Map(device, event);
        break;
      case TorchAction::kSegmentFree:
      case TorchAction::kSegmentUnmap:
        memory_.Unmap(device, event);
        break;
      case TorchAction::kOom:
        TakeOom(device, event);
        break;
      default:
        break;
    }
    if (make_.trace.records == before) make_.Next();
    places_[device].insert(places_[device].end(), taken, make_.trace.records - 1);
    if (event.time_us < INT64_MAX / 1000) {
      make_.SetTimes(before, event.time_us * 1000, s_.events.size());
    }
    return taken;
  }

  void TakeFree(uint32_t device, uint32_t index, uint32_t* taken) {
    const Slice run = s_.devices[device];
    const TorchEvent* event = &s_.events[run.first + index];
    const bool completed = index + 1 < run.count && event[1].address == event->address &&
                           event[1].action == TorchAction::kFreeCompleted;
    if (completed) ++*taken;
    memory_.RequestFree(device, *event, completed || completions_skipped_[device]);
  }

  void TakeOom(uint32_t device, const TorchEvent& event) {
    Failure failure;
    failure.call = make_.Intern("cudaMalloc");
    failure.error = kErrorMemoryAllocation;
    failure.thread = make_.Thread(0);
    failure.stack = event.stack;
    failure.device = static_cast<int16_t>(device);
    failure.requested = event.size;
    failure.free_on_device = event.address;
    failure.seq = make_.Next();
    make_.trace.failures.push_back(failure);
  }

  // Makes a range of the text of torch.cuda.memory._set_memory_metadata while events carry it.
  void TakeMetadata(StringId metadata) {
    if (metadata_) EndRange(kMetadata);
    metadata_ = metadata;
    if (metadata) BeginRange(kMetadata, metadata);
  }

  // Ranges of the profiler up to here; they nest.
  void TakeAnnotations(int64_t until_us) {
    for (; annotation_ < s_.annotations.size(); ++annotation_) {
      const TorchAnnotation& annotation = s_.annotations[annotation_];
      if (annotation.time_us > until_us) return;
      if (annotation.end) {
        EndRange(kProfiler);
      } else {
        BeginRange(kProfiler, annotation.name);
      }
    }
  }

  void BeginRange(std::string_view domain, StringId name) {
    NvtxRange range;
    range.thread = make_.Thread(0);
    range.domain = make_.Intern(domain);
    range.name = Text(name);
    range.begin = make_.Next();
    make_.trace.nvtx_ranges.push_back(range);
  }

  // The innermost one that is open.
  void EndRange(std::string_view domain) {
    std::vector<NvtxRange>& ranges = make_.trace.nvtx_ranges;
    const auto open = std::find_if(ranges.rbegin(), ranges.rend(), [&](const NvtxRange& range) {
      return range.end == kNever && make_.trace[range.domain] == domain;
    });
    if (open != ranges.rend()) open->end = make_.Next();
  }

  void AddNotes() {
    if (totals_.events == 0 && totals_.segments > 0) {
      make_.Note(
          "the snapshot has no history of events, only what is there at its end: call "
          "torch.cuda.memory._record_memory_history() before the program allocates");
    }
    if (totals_.requests_skipped || totals_.completions_skipped) {
      make_.Note(std::string("the memory history has no ") +
                 (totals_.requests_skipped ? "free_requested" : "free_completed") +
                 " events (skip_actions): which frees were deferred isn't known");
    }
    if (totals_.unmatched > 0) {
      make_.Note("the memory history contradicts itself about " +
                 Counted(totals_.unmatched, "allocation"));
    }
  }

  const TorchSnapshot& s_;
  SnapshotMemory memory_;
  TraceMaker& make_;
  SnapshotTotals totals_;
  std::vector<std::vector<Seq>> places_;   // of each device's events
  std::vector<bool> completions_skipped_;  // by device
  StringId metadata_;                      // of the last event
  size_t annotation_ = 0;                  // the next one
  std::vector<StringId> strings_;          // of the snapshot, in the trace; none: not yet
};

}  // namespace

SnapshotTrace TraceOfSnapshot(const TorchSnapshot& snapshot) { return Converter(snapshot).Run(); }

bool IsTorchSnapshot(std::string_view head) {
  return IsPickle(head) && head.find("tools_id") == std::string_view::npos;
}

Result<Imported> ReadTorchSnapshotTrace(std::string_view bytes) {
  const Result<TorchSnapshot> snapshot = ParseTorchSnapshot(bytes);
  if (!snapshot) return snapshot.error();
  SnapshotTrace made = TraceOfSnapshot(*snapshot);
  const SnapshotTotals& totals = made.totals;
  Trace& trace = made.trace;
  const std::string summary =
      Counted(totals.segments, "segment") + ", " + FormatBytes(totals.reserved) + " reserved, " +
      FormatBytes(totals.allocated) + " in " + Counted(totals.active_blocks, "active block") +
      " (" + FormatBytes(totals.requested) + " asked for), " + Counted(totals.events, "event");
  trace.imported_from.push_back({.summary = trace.strings.Intern(summary), .seq = trace.records++});
  return Imported{.trace = std::move(trace)};
}

}  // namespace graphkit
