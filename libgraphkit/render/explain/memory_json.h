// What memory did, as the HTML report has it.
#pragma once

#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

// As "devices" of the explanation's JSON; holders with the short place and the function as well.
Json MemoryJson(const std::vector<MemoryAccount>& memory);

}  // namespace graphkit
