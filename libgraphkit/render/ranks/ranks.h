// Many traces at once, as a person reads them: the worst one, how far they are apart, which differ
// in what, and what was found in how many of them.
#pragma once

#include <ostream>

#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderRanksText(const RankReport& report, const TextOut& out);

// Many traces at once as JSON, schema "graphkit-ranks", version 1 (docs/diff.md). Traces are named
// by their place in "traces".
void RenderRanksJson(const RankReport& report, std::ostream& out);

}  // namespace graphkit
