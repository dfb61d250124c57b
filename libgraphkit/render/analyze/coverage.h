// `graphkit coverage`: the part of a program that runs in graphs, as text and as JSON.
#pragma once

#include <ostream>

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderCoverageText(const Coverage& coverage, const Trace& trace, const TextStyle& style,
                        std::ostream& out);
void RenderCoverageJson(const Coverage& coverage, const Trace& trace, std::ostream& out);

}  // namespace graphkit
