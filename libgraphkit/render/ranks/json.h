// Many traces at once as JSON, schema "graphkit-ranks", version 1 (docs/ranks.md). Traces are named
// by their place in "traces".
#pragma once

#include <ostream>

#include "libgraphkit/model/rank_report.h"

namespace graphkit {

void RenderRanksJson(const RankReport& report, std::ostream& out);

}  // namespace graphkit
