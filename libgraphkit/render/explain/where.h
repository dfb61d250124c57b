// `graphkit where`: the answer as text, and as JSON.
#pragma once

#include <ostream>
#include <vector>

#include "libgraphkit/analysis/explain/where.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// `others`: further faulting addresses of the report that the address is from.
void RenderWhere(const Whereabouts& where, const std::vector<Address>& others, const Ran& trace,
                 const TextOut& out);
// Schema "graphkit-where", version 1.
void RenderWhereJson(const Whereabouts& where, const std::vector<Address>& others, const Ran& trace,
                     std::ostream& out);

}  // namespace graphkit
