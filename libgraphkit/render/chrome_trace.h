// A timeline in the JSON of chrome://tracing (Trace Event Format), which Perfetto and others read.
#pragma once

#include <ostream>

#include "libgraphkit/render/timeline.h"

namespace graphkit {

void RenderChromeTrace(const Timeline& timeline, std::ostream& out);

}  // namespace graphkit
