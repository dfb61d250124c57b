// The report as JSON, schema "graphkit-analyze", version 1 (docs/cli.md). Keys have a fixed order;
// more may join, those that are there keep their meaning. Bytes are integers, ids the trace's.
#pragma once

#include <ostream>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

void RenderJson(const Report& report, const Trace& trace, std::ostream& out);

const char* DeviceName(DeviceKind device);   // "cuda", "soft", "imported"
const char* OriginName(GraphOrigin origin);  // "capture", "explicit", …

}  // namespace graphkit
