// A timeline in the JSON of chrome://tracing (Trace Event Format), which Perfetto and others read.
#pragma once

#include <ostream>

#include "libgraphkit/render/export/timeline.h"

namespace graphkit {

void RenderChromeTrace(const Timeline& timeline, std::ostream& out);

// The same in parts: kChromeBegin, events of timelines with ",\n" between them, kChromeEnd. `rank`
// keeps their flows apart.
inline constexpr const char* kChromeBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
inline constexpr const char* kChromeEnd = "\n]}\n";
void RenderChromeEvents(const Timeline& timeline, uint32_t rank, std::ostream& out);

}  // namespace graphkit
