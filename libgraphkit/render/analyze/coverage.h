// The part of a program that runs in graphs: as text, and as JSON.
#pragma once

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderCoverage(const Coverage& coverage, const Ran& trace, const TextOut& out);
Json CoverageJson(const Coverage& coverage, const Ran& trace);

}  // namespace graphkit
