// The gate's verdict as JSON, schema "graphkit-check", version 1 (docs/check.md).
#pragma once

#include <ostream>

#include "libgraphkit/model/gate.h"

namespace graphkit {

void RenderCheckJson(const GateRun& run, std::ostream& out);

}  // namespace graphkit
