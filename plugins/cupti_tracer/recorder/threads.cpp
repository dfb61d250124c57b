#include "plugins/cupti_tracer/recorder/threads.h"

#include <algorithm>
#include <cstdio>

namespace graphkit {
namespace {

constexpr std::string_view kCollection = "garbage collection", kGraphName = "graphkit graph: ";

// A stack with its addresses in the files that know their lines, which `graphkit trace` looks up
// and takes out when the program has ended. Readers of traces leave them alone.
struct PlacedStackRecord : StackRecord {
  std::vector<std::string> places;  // by frame, in hexadecimal; none where no frame has one

  void SetPlaces(const std::vector<NamedFrame>& frames) {
    if (std::ranges::none_of(frames, [](const NamedFrame& frame) { return frame.place != 0; })) {
      return;
    }
    for (const NamedFrame& frame : frames) {
      char text[24];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(frame.place));
      places.emplace_back(text);
    }
  }
  void Fields(auto& v) {
    StackRecord::Fields(v);
    v.Optional("places", places);
  }
};

}  // namespace

ThreadId Threads::IdOf(ThreadState& thread) {
  if (thread.id) return thread.id;
  thread.id = ThreadId(next_++);
  ThreadRecord r;
  r.id = thread.id;
  r.row.tid = thread.tid;
  r.row.name = records_.Add(thread.name);
  records_.Write(r);
  return thread.id;
}

void Threads::OnRangePushed(ThreadState& thread, std::string_view domain, std::string_view name,
                            uint32_t colour, uint64_t time) {
  thread.ranges.push_back({std::string(domain), std::string(name), colour, false});
  ++thread.silent_ranges;
  if (name.starts_with(kGraphName)) thread.next_graph = name.substr(kGraphName.size());
  if (name.starts_with(kCollection)) WriteRanges(thread, time);
}

void Threads::OnRangePopped(ThreadState& thread, std::string_view domain, uint64_t time) {
  for (size_t i = thread.ranges.size(); i-- > 0;) {
    if (thread.ranges[i].domain != domain) continue;
    const bool written = thread.ranges[i].written;
    const bool collection = thread.ranges[i].name.starts_with(kCollection);
    thread.ranges.erase(thread.ranges.begin() + static_cast<ptrdiff_t>(i));
    if (!written) {
      --thread.silent_ranges;
      return;
    }
    NvtxPopRecord r;
    r.thread = IdOf(thread);
    r.domain = records_.Add(domain);
    if (collection) r.time = time;
    records_.Write(r);
    return;
  }
}

// `time`: of the innermost range, when that is a collection.
void Threads::WriteRanges(ThreadState& thread, uint64_t time) {
  ThreadId id = IdOf(thread);
  for (OpenRange& range : thread.ranges) {
    if (range.written) continue;
    range.written = true;
    NvtxPushRecord r;
    r.row.thread = id;
    r.row.domain = records_.Add(range.domain);
    r.row.name = records_.Add(range.name);
    r.row.colour = range.colour;
    r.time = time;
    records_.Write(r);
  }
  thread.silent_ranges = 0;
}

size_t StackTable::AddressHash::operator()(const std::vector<uint64_t>& addresses) const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t address : addresses) hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

StackId StackTable::Find(std::span<const uint64_t> taken) const {
  auto known = taken_.find({taken.begin(), taken.end()});
  return known != taken_.end() ? known->second : StackId();
}

StackId StackTable::Add(std::span<const uint64_t> taken, const std::vector<NamedFrame>& frames) {
  if (frames.empty()) return {};
  std::string text;
  for (const NamedFrame& frame : frames) {
    text += frame.function + '\n' + frame.file + '\n' + std::to_string(frame.line) + '\n' +
            std::to_string(frame.place) + '\n';
  }
  StackId next(static_cast<uint32_t>(named_.size()));
  auto [entry, is_new] = named_.emplace(std::move(text), next);
  StackId id = entry->second;
  if (!taken.empty()) taken_.emplace(std::vector<uint64_t>(taken.begin(), taken.end()), id);
  if (!is_new) return id;
  std::vector<StackFrame> written;
  for (const NamedFrame& frame : frames) {
    const StringId function = records_.Add(frame.function);
    written.push_back({function, records_.Add(frame.file), frame.line});
  }
  PlacedStackRecord r;
  r.id = id;
  r.row.frames = records_.Add(written);
  r.SetPlaces(frames);
  records_.Write(r);
  return id;
}

}  // namespace graphkit
