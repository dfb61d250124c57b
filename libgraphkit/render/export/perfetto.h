// A timeline as Trace Event JSON, for ui.perfetto.dev, trace_processor and chrome://tracing.
#pragma once

#include <ostream>

#include "libgraphkit/render/export/timeline.h"

namespace graphkit {

void RenderPerfetto(const Timeline& timeline, std::ostream& out);

// The same in parts: kPerfettoBegin, events of timelines with ",\n" between them, kPerfettoEnd.
// `rank` keeps their flows apart.
inline constexpr const char* kPerfettoBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
inline constexpr const char* kPerfettoEnd = "\n]}\n";
void RenderPerfettoEvents(const Timeline& timeline, uint32_t rank, std::ostream& out);

}  // namespace graphkit
