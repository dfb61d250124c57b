// A timeline as a Perfetto trace (protobuf), for ui.perfetto.dev and trace_processor.
#pragma once

#include <ostream>

#include "libgraphkit/render/timeline.h"

namespace graphkit {

void RenderPerfetto(const Timeline& timeline, std::ostream& out);

}  // namespace graphkit
