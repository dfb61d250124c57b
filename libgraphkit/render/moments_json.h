// A moment of a device's memory in JSON: the same in every view.
#pragma once

#include "libgraphkit/analysis/memory/moments.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

inline Json MomentJson(const MemoryAt& at) {
  return Json{{"record", at.seq},
              {"reserved_bytes", at.reserved},
              {"segments", at.segments},
              {"in_use_bytes", at.in_use},
              {"blocks", at.blocks}};
}

}  // namespace graphkit
