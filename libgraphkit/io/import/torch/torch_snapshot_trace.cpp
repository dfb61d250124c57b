#include "libgraphkit/io/import/torch/torch_snapshot_trace.h"

#include <charconv>
#include <map>
#include <queue>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/torch/snapshot_memory.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {
namespace {

// Domains of ranges.
constexpr std::string_view kMetadata = "user_metadata";
constexpr std::string_view kInternal = "internal_metadata";
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

struct Converter {
  const TorchSnapshot& s;
  SnapshotMemory memory = SnapshotMemory(s);
  TraceMaker& make = memory.make;
  SnapshotTotals totals = {};
  std::vector<std::vector<Seq>> places = {};                      // of each device's events
  std::vector<bool> completions_skipped = {};                     // by device
  StringId metadata = {}, internal = {};                          // of the last event
  size_t annotation = 0;                                          // the next one
  std::map<std::pair<uint32_t, Address>, size_t> annotated = {};  // open ranges, by live block
  std::vector<StringId> strings = {};  // of the snapshot, in the trace; none: not yet

  SnapshotTrace Run() {
    AddSettings();
    SetBegin();
    AddStacks();
    Reserve();
    SumUp();
    for (uint32_t device = 0; device < totals.devices; ++device) {
      const SnapshotStart start = FindStart(s, device);
      totals.unmatched += start.unmatched;
      totals.requests_skipped |= start.requests_skipped;
      totals.completions_skipped |= start.completions_skipped;
      completions_skipped.push_back(start.completions_skipped);
      memory.Start(device, start);
    }
    make.trace.histories.push_back(
        {.devices = static_cast<uint32_t>(totals.devices), .seq = make.Next()});
    for (const Slice& run : s.devices) places.emplace_back().reserve(run.count);
    InTimeOrder(s, [&](uint32_t device, uint32_t event) { return Take(device, event); });
    TakeAnnotations(INT64_MAX);
    memory.TakeFinalSizes();
    AddNotes();
    for (size_t device = 0; device < places.size(); ++device) {
      AppendHistoryEvents(&make.trace, static_cast<int16_t>(device), places[device]);
    }
    return {std::move(make.trace), totals};
  }

  // The variable as it would have to be set for what was in force: options may come from the
  // program itself. Empty says that PyTorch's defaults were.
  void AddSettings() {
    const TorchSettings& settings = s.settings;
    std::vector<std::string>& environment = make.trace.process.environment;
    if (!settings.version.empty()) environment.push_back("PYTORCH_VERSION=" + settings.version);
    if (!settings.known) return;
    std::string conf = settings.conf;
    const auto add = [&](bool on, std::string_view option) {
      if (!on || conf.find(option) != std::string::npos) return;
      conf += (conf.empty() ? "" : ",") + std::string(option) + ":True";
    };
    add(settings.expandable_segments, "expandable_segments");
    add(settings.graph_capture_record_stream_reuse, "graph_capture_record_stream_reuse");
    environment.push_back("PYTORCH_CUDA_ALLOC_CONF=" + conf);
  }

  void SetBegin() {
    int64_t first = INT64_MAX;
    for (const Slice& run : s.devices) {
      if (run.count > 0) first = std::min(first, s.events[run.first].time_us);
    }
    if (first > 0 && first < INT64_MAX / 1000) make.SetBegin(first * 1000, true);
  }

  StringId Text(StringId id) {
    if (!id) return {};
    StringId& text = strings[id.index()];
    if (!text) text = make.Intern(s.strings[id]);
    return text;
  }

  // A stack of the snapshot has the same id in the trace.
  void AddStacks() {
    strings.resize(s.strings.size());
    Trace& trace = make.trace;
    trace.stack_frames.reserve(s.stack_frames.size());
    for (const uint32_t frame : s.stack_frames) {
      const TorchFrame& f = s.frames[frame];
      const StringId function = Text(f.function);
      trace.stack_frames.push_back({function, Text(f.file), f.line});
    }
    trace.stacks.reserve(s.stacks.size());
    for (const Slice& run : s.stacks) {
      trace.stacks.push_back({.frames = run, .created = make.Next()});
    }
  }

  void Reserve() {
    const auto allocs = std::ranges::count(s.events, TorchAction::kAlloc, &TorchEvent::action);
    make.trace.blocks.rows().reserve(static_cast<size_t>(allocs) + s.segments.size());
  }

  void SumUp() {
    totals.devices = DeviceCount(s);
    totals.segments = s.segments.size();
    totals.events = s.events.size();
    for (const TorchSegment& segment : s.segments) totals.reserved += segment.total_size;
    for (const TorchBlock& block : s.blocks) {
      if (block.state != TorchBlockState::kActive) continue;
      ++totals.active_blocks;
      totals.allocated += block.size;
      totals.requested += block.requested_size;
    }
  }

  // Takes an event, and with a free the completion that follows it; returns how many it took. An
  // event that nothing follows from keeps its place.
  uint32_t Take(uint32_t device, uint32_t index) {
    const TorchEvent& event = s.events[s.devices[device].first + index];
    uint32_t taken = 1;
    const Seq before = make.trace.records;
    if (event.action != TorchAction::kAnnotate) TakeMetadata(kMetadata, event.metadata, &metadata);
    TakeMetadata(kInternal, event.internal, &internal);
    if (annotation < s.annotations.size()) TakeAnnotations(event.time_us);
    switch (event.action) {
      case TorchAction::kAlloc:
        memory.Allocate(device, event);
        break;
      case TorchAction::kFreeRequested:
        TakeFree(device, index, &taken);
        break;
      case TorchAction::kFreeCompleted:
        if (totals.requests_skipped) memory.RequestFree(device, event, true);
        memory.CompleteFree(device, event);
        break;
      case TorchAction::kSegmentAlloc:
      case TorchAction::kSegmentMap:
        memory.Map(device, event);
        break;
      case TorchAction::kSegmentFree:
      case TorchAction::kSegmentUnmap:
        memory.Unmap(device, event);
        break;
      case TorchAction::kAnnotate:
        BeginRange(DomainOf(event), event.metadata);
        ++annotated[{device, event.address}];
        break;
      case TorchAction::kOom:
        TakeOom(device, event);
        break;
      default:
        break;
    }
    if (make.trace.records == before) make.Next();
    places[device].insert(places[device].end(), taken, make.trace.records - 1);
    if (event.time_us >= 0 && event.time_us < INT64_MAX / 1000) {
      make.SetTimes(before, event.time_us * 1000, s.events.size());
    }
    return taken;
  }

  void TakeFree(uint32_t device, uint32_t index, uint32_t* taken) {
    const Slice run = s.devices[device];
    const TorchEvent* event = &s.events[run.first + index];
    EndAnnotations(device, *event);
    const bool completed = index + 1 < run.count && event[1].address == event->address &&
                           event[1].action == TorchAction::kFreeCompleted;
    if (completed) ++*taken;
    memory.RequestFree(device, *event, completed || completions_skipped[device]);
  }

  // Of annotations of a block: ranges of different blocks may overlap, those of a domain nest.
  static std::string DomainOf(const TorchEvent& event) {
    char digits[16];
    const auto end = std::to_chars(digits, std::end(digits), event.address, 16).ptr;
    return "annotate 0x" + std::string(digits, end);
  }

  // What was said of a block holds until its free.
  void EndAnnotations(uint32_t device, const TorchEvent& event) {
    const auto found = annotated.find({device, event.address});
    if (found == annotated.end()) return;
    for (size_t i = 0; i < found->second; ++i) EndRange(DomainOf(event));
    annotated.erase(found);
  }

  void TakeOom(uint32_t device, const TorchEvent& event) {
    make.trace.failures.push_back({.call = make.Intern("cudaMalloc"),
                                   .error = kErrorMemoryAllocation,
                                   .thread = make.Thread(0),
                                   .stack = event.stack,
                                   .device = static_cast<int16_t>(device),
                                   .requested = event.size,
                                   .free_on_device = event.address,
                                   .seq = make.Next()});
  }

  // Makes a range of a text while events carry it.
  void TakeMetadata(std::string_view domain, StringId next, StringId* last) {
    if (next == *last) return;
    if (*last) EndRange(domain);
    *last = next;
    if (next) BeginRange(domain, next);
  }

  // Ranges of the profiler up to here; they nest.
  void TakeAnnotations(int64_t until_us) {
    for (; annotation < s.annotations.size(); ++annotation) {
      const TorchAnnotation& next = s.annotations[annotation];
      if (next.time_us > until_us) return;
      if (next.end) {
        EndRange(kProfiler);
      } else {
        BeginRange(kProfiler, next.name);
      }
    }
  }

  void BeginRange(std::string_view domain, StringId name) {
    make.trace.nvtx_ranges.push_back({.thread = make.Thread(0),
                                      .domain = make.Intern(domain),
                                      .name = Text(name),
                                      .begin = make.Next()});
  }

  // The innermost one that is open.
  void EndRange(std::string_view domain) {
    std::vector<NvtxRange>& ranges = make.trace.nvtx_ranges;
    const auto open = std::find_if(ranges.rbegin(), ranges.rend(), [&](const NvtxRange& range) {
      return range.end == kNever && make.trace[range.domain] == domain;
    });
    if (open != ranges.rend()) open->end = make.Next();
  }

  void AddNotes() {
    if (totals.events == 0 && totals.segments > 0) {
      make.Note(
          "the snapshot has no history of events, only what is there at its end: call "
          "torch.cuda.memory._record_memory_history() before the program allocates");
    }
    if (totals.requests_skipped || totals.completions_skipped) {
      make.Note(std::string("the memory history has no ") +
                (totals.requests_skipped ? "free_requested" : "free_completed") +
                " events (skip_actions): which frees were deferred isn't known");
    }
    if (totals.unmatched > 0) {
      make.Note("the memory history contradicts itself about " +
                Counted(totals.unmatched, "allocation"));
    }
  }
};

}  // namespace

SnapshotTrace TraceOfSnapshot(const TorchSnapshot& snapshot) { return Converter{snapshot}.Run(); }

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
