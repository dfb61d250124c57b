// What graphs need when their memory is given away and comes back: as text, and as JSON, schema
// "graphkit-survive", version 1 (docs/survive.md).
#pragma once

#include <ostream>
#include <span>

#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/survive/between_launches.h"
#include "tools/graphkit/survive/events.h"
#include "tools/graphkit/survive/registrations.h"

namespace graphkit {

struct SurviveView {
  SurviveEvent event = SurviveEvent::kSleep;
  std::span<const PoolId> keep;  // pools that keep their memory
  const ContentBill& bill;
  std::span<const ContentRange> ranges;
  std::span<const Registration> registrations;
  HeldByGraphs held;
  BorrowView borrow;
};
void RenderSurviveText(const SurviveView& view, const Ran& trace, const TextOut& out);
void RenderSurviveJson(const SurviveView& view, const Ran& trace, std::ostream& out);

}  // namespace graphkit
