// A timeline as a Perfetto trace (protobuf), for ui.perfetto.dev and trace_processor.
#pragma once

#include <ostream>

#include "libgraphkit/render/export/timeline.h"

namespace graphkit {

// Written one after the other, timelines are one trace: `rank` keeps their tracks and flows apart.
void RenderPerfetto(const Timeline& timeline, std::ostream& out, uint32_t rank = 0);

}  // namespace graphkit
