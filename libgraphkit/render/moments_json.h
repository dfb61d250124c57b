// Moments of a device's memory in JSON: the same in every view.
#pragma once

#include "libgraphkit/model/memory_moments.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

inline Json MomentJson(const MemoryAt& at) {
  return Json{{"record", at.seq},
              {"reserved_bytes", at.reserved},
              {"segments", at.segments},
              {"in_use_bytes", at.in_use},
              {"allocated_bytes", at.allocated},
              {"requested_bytes", at.requested},
              {"blocks", at.blocks}};
}

inline Json MomentsJson(const MemoryMoments& moments) {
  return Json{{"peak_reserved", MomentJson(moments.peak_reserved)},
              {"peak_in_use", MomentJson(moments.peak_in_use)},
              {"peak_allocated", MomentJson(moments.peak_allocated)},
              {"peak_requested", MomentJson(moments.peak_requested)},
              {"end", MomentJson(moments.end)}};
}

}  // namespace graphkit
