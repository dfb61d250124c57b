// A plan and its bound as JSON that others can check, schema "graphkit-certificate", version 1
// (docs/certificate.md).
#pragma once

#include <ostream>
#include <string_view>

#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// `trace`: the decompressed file that was planned, by last uses.
void RenderCertificate(const PlannedMemory& plan, std::string_view trace, std::ostream& out);

}  // namespace graphkit
