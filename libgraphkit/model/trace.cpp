#include "libgraphkit/model/trace.h"

#include "libgraphkit/group_by.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

std::string GraphText(const Trace& trace, GraphId graph) {
  if (!graph) return "a graph";
  const std::string_view name = trace[trace[graph].name];
  const std::string text = "graph " + std::to_string(graph.value);
  return name.empty() ? text : text + " '" + std::string(name) + "'";
}

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr size_t kMostEvents = 4096;  // in one row

bool IsDriverBlock(const Trace& trace, const Block& block) {
  return !block.segment && block.pool && trace[block.pool].kind == PoolKind::kDevice;
}

// Memory that is mapped at a segment's place while it lives: a pause unmapped what was there.
void AddMappedAgain(const Trace& trace, std::vector<SegmentId>* segments) {
  IntervalMap<SegmentId> latest;
  size_t next = 0;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if ((*segments)[i] || !IsDriverBlock(trace, block)) continue;
    for (; next < trace.segments.size() && trace.segments[next].allocated < block.allocated;
         ++next) {
      const Segment& segment = trace.segments[next];
      latest.Add({segment.address, segment.address + segment.size}, SegmentId(next));
    }
    const SegmentId* segment = latest.Find(block.address);
    if (segment && trace[*segment].freed > block.allocated) (*segments)[i] = *segment;
  }
}

}  // namespace

// The tracer tells such pools from others by their names (docs/format.md).
bool IsRegistered(const Trace& trace, const Block& block) {
  if (!block.pool.valid()) return false;
  const Pool& pool = trace[block.pool];
  return pool.kind == PoolKind::kHost && trace[pool.name] == "registered";
}

bool IsImported(const Trace& trace, const Block& block) {
  return block.mapped && block.pool.valid() && trace[trace[block.pool].name] == "imported";
}

std::vector<std::string> IncompleteBecause(const Trace& trace) {
  const Completeness& completeness = trace.completeness;
  std::vector<std::string> because;
  if (completeness.truncated && !completeness.stopped)
    because.emplace_back("it ends early (the program was killed, or the file was cut)");
  if (completeness.dropped_records > 0)
    because.push_back("the tracer dropped " + FormatCount(completeness.dropped_records) +
                      " records");
  because.insert(because.end(), completeness.notes.begin(), completeness.notes.end());
  because.insert(because.end(), completeness.unapplied.begin(), completeness.unapplied.end());
  if (completeness.truncated) return because;  // what was cut off may have ended it
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kOpen) continue;
    because.push_back("the capture of " + GraphText(trace, capture.graph) +
                      " never ended: the graph isn't whole");
  }
  return because;
}

bool IsComplete(const Trace& trace) { return IncompleteBecause(trace).empty(); }

const char* NodeKindName(NodeKind kind) { return NameOf(kind).data(); }

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  storage_.clear();
  order_.clear();
  ids_.clear();
  for (std::string_view text : other.order_) Intern(text);
  return *this;
}

StringId StringTable::Intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const StringId id(order_.size());
  const std::string& stored = storage_.emplace_back(text);
  order_.push_back(stored);
  ids_.emplace(stored, id);
  return id;
}

std::string_view StringTable::operator[](StringId id) const {
  return id.valid() ? order_[id.index()] : std::string_view();
}

bool StringTable::operator==(const StringTable& other) const {
  return std::ranges::equal(order_, other.order_);
}

const MemoryHistory* HistoryOf(const Trace& trace) {
  return trace.histories.empty() ? nullptr : &trace.histories.front();
}

uint64_t CountHistoryEvents(const Trace& trace) {
  uint64_t count = 0;
  for (const HistoryEvents& events : trace.history_events) count += trace[events.steps].size();
  return count;
}

std::optional<Seq> StepOf(char digit) {
  const size_t step = kDigits.find(digit);
  if (step == kDigits.npos) return std::nullopt;
  return static_cast<Seq>(step);
}

std::vector<Seq> PlacesOfEvents(const Trace& trace, std::optional<int16_t> device) {
  std::vector<Seq> places;
  for (const HistoryEvents& events : trace.history_events) {
    if (device && events.device != *device) continue;
    Seq place = events.first;
    for (const char digit : trace[events.steps]) {
      places.push_back(place += StepOf(digit).value_or(0));
    }
  }
  return places;
}

void AppendHistoryEvents(Trace* trace, int16_t device, std::span<const Seq> places) {
  while (!places.empty()) {
    std::string steps = "0";
    for (size_t i = 1; i < std::min(places.size(), kMostEvents); ++i) {
      const Seq step = places[i] - places[i - 1];
      if (step >= kDigits.size()) break;
      steps += kDigits[step];
    }
    trace->history_events.push_back({.device = device,
                                     .first = places.front(),
                                     .steps = trace->strings.Intern(steps),
                                     .seq = trace->records++});
    places = places.subspan(steps.size());
  }
}

std::string_view FormatOf(const Trace& trace) {
  return trace.imported_from.empty() ? std::string_view()
                                     : trace[trace.imported_from.front().format];
}

BlocksByAddress DriverBlocks(const Trace& trace) {
  BlocksByAddress blocks;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (IsDriverBlock(trace, block)) blocks.emplace(block.address, BlockId(i));
  }
  return blocks;
}

std::vector<BlockId> RunOfBlocks(const Trace& trace, const BlocksByAddress& blocks, BlockId first,
                                 Bytes size) {
  std::vector<BlockId> run = {first};
  for (Bytes found = trace[first].size; found < size; found += trace[run.back()].size) {
    const auto [begin, end] = blocks.equal_range(trace[first].address + found);
    const auto next = std::find_if(begin, end, [&](const auto& entry) {
      return trace[entry.second].allocated > trace[run.back()].allocated;
    });
    if (next == end) return {};
    run.push_back(next->second);
  }
  return run;
}

std::vector<SegmentId> SegmentsOfBlocks(const Trace& trace) {
  std::vector<SegmentId> segments(trace.blocks.size());
  BlocksByAddress blocks;
  for (const auto& [i, segment] : Enumerate(trace.segments)) {
    if (segment.block.index() >= segments.size()) continue;
    segments[segment.block.index()] = SegmentId(i);
    if (trace[segment.block].size >= segment.size) continue;
    if (blocks.empty()) blocks = DriverBlocks(trace);
    for (const BlockId piece : RunOfBlocks(trace, blocks, segment.block, segment.size)) {
      segments[piece.index()] = SegmentId(i);
    }
  }
  AddMappedAgain(trace, &segments);
  return segments;
}

}  // namespace graphkit
