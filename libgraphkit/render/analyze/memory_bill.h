// Tables of memory, grouped.
#pragma once

#include <ostream>
#include <vector>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderBills(const Trace& trace, const std::vector<MemoryBill>& bills, BillBy by,
                 const TextStyle& style, std::ostream& out);

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const HeldAt& at,
                const TextStyle& style, std::ostream& out);

}  // namespace graphkit
