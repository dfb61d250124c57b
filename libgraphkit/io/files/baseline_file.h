// The gate's baseline as a file (docs/check.md): JSON, one line for each graph and each finding, so
// that a change of it reads well in a review.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/result.h"

namespace graphkit {

Result<Baseline> ReadBaseline(const std::string& path);
// The same of the file's text; errors name `file`.
Result<Baseline> ParseBaseline(const std::string& text, const std::string& file);
void WriteBaseline(const Baseline& baseline, std::ostream& out);

}  // namespace graphkit
