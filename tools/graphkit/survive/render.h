// What graphs need when their memory is given away and comes back: as text, and as JSON, schema
// "graphkit-survive", version 1 (docs/survive.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/survive/between_launches.h"

namespace graphkit {

struct SurviveView {
  const ContentBill& bill;
  std::span<const ContentRange> ranges;
  BorrowView borrow;
};
void RenderSurviveText(const SurviveView& view, const Trace& trace, const TextOut& out);
void RenderSurviveJson(const SurviveView& view, const Trace& trace, std::ostream& out);

}  // namespace graphkit
