#include "plugins/cupti_tracer/threads.h"

namespace graphkit {
namespace {

constexpr std::string_view kCollection = "garbage collection";

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
    text += frame.function + '\n' + frame.file + '\n' + std::to_string(frame.line) + '\n';
  }
  StackId next(static_cast<uint32_t>(named_.size()));
  auto [entry, is_new] = named_.emplace(std::move(text), next);
  StackId id = entry->second;
  taken_.emplace(std::vector<uint64_t>(taken.begin(), taken.end()), id);
  if (!is_new) return id;
  std::vector<StackFrame> written;
  for (const NamedFrame& frame : frames) {
    const StringId function = records_.Add(frame.function);
    written.push_back({function, records_.Add(frame.file), frame.line});
  }
  StackRecord r;
  r.id = id;
  r.row.frames = records_.Add(written);
  records_.Write(r);
  return id;
}

}  // namespace graphkit
