// What memory did, as the HTML report and diffs have it.
#pragma once

#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

// As of "holders" of the explanation's JSON, with the short place and the function as well.
Json PlacedHolderJson(const HeldGroup& group);

// As "devices" of the explanation's JSON.
Json MemoryJson(const std::vector<MemoryAccount>& memory);

}  // namespace graphkit
