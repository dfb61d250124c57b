// NVTX ranges. Only those that something recorded lies in are written, when it is about to be; and
// garbage collections, as the hook for Python names them, with their times: what they free is seen
// by a snapshot, not by the driver.
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

constexpr std::string_view kCollection = "garbage collection";

}  // namespace

void Recorder::OnRangePushed(ThreadState& thread, std::string_view domain, std::string_view name,
                             uint32_t colour, uint64_t time) {
  thread.ranges.push_back({std::string(domain), std::string(name), colour, false});
  ++thread.silent_ranges;
  if (name.starts_with(kCollection)) WriteRanges(thread, time);
}

void Recorder::OnRangePopped(ThreadState& thread, std::string_view domain, uint64_t time) {
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
    r.thread = ThreadOf(thread);
    r.domain = values_.Add(domain);
    if (collection) r.time = time;
    Write(r);
    return;
  }
}

// `time`: of the innermost range, when that is a collection.
void Recorder::WriteRanges(ThreadState& thread, uint64_t time) {
  ThreadId id = ThreadOf(thread);
  for (OpenRange& range : thread.ranges) {
    if (range.written) continue;
    range.written = true;
    NvtxPushRecord r;
    r.row.thread = id;
    r.row.domain = values_.Add(range.domain);
    r.row.name = values_.Add(range.name);
    r.row.colour = range.colour;
    r.time = time;
    Write(r);
  }
  thread.silent_ranges = 0;
}

}  // namespace graphkit
