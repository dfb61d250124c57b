// NVTX ranges. Only those that something recorded lies in are written, when it is about to be.
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {

void Recorder::OnRangePushed(ThreadState& thread, std::string_view domain, std::string_view name,
                             uint32_t colour) {
  thread.ranges.push_back({std::string(domain), std::string(name), colour, false});
  ++thread.silent_ranges;
}

void Recorder::OnRangePopped(ThreadState& thread, std::string_view domain) {
  for (size_t i = thread.ranges.size(); i-- > 0;) {
    if (thread.ranges[i].domain != domain) continue;
    bool written = thread.ranges[i].written;
    thread.ranges.erase(thread.ranges.begin() + static_cast<ptrdiff_t>(i));
    if (!written) {
      --thread.silent_ranges;
      return;
    }
    line_.Start("nvtx_pop");
    line_.Number("thread", ThreadOf(thread).value);
    if (!domain.empty()) line_.Text("domain", domain);
    Write();
    return;
  }
}

void Recorder::WriteRanges(ThreadState& thread) {
  ThreadId id = ThreadOf(thread);
  for (OpenRange& range : thread.ranges) {
    if (range.written) continue;
    range.written = true;
    line_.Start("nvtx_push");
    line_.Number("thread", id.value);
    if (!range.domain.empty()) line_.Text("domain", range.domain);
    line_.Text("name", range.name);
    if (range.colour != 0) line_.Hex("colour", range.colour);
    Write();
  }
  thread.silent_ranges = 0;
}

}  // namespace graphkit
