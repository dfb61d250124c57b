// A recorded run under other settings of PyTorch's allocator: for people, and as JSON, schema
// "graphkit-what-if", version 1 (docs/replay.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/alloc/recorded/what_if.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderWhatIfText(std::span<const WhatIf> devices, const TextStyle& style, std::ostream& out);
void RenderWhatIfJson(std::span<const WhatIf> devices, std::ostream& out);

}  // namespace graphkit
