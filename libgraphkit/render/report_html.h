// A trace and its report as one HTML file that needs nothing else: no network, no other file. A
// person opens it to look at memory over capture order, streams, findings and the memory bill.
//
// Sources of the page: libgraphkit/render/report/; they are put into the library when it is built.
// All that comes from the trace is compressed data, which the page shows as text, never as markup.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// `report` is of the facts' trace.
struct ReportPage {
  const Facts& facts;
  const Report& report;
  const PolicyReplay* policy = nullptr;  // drawn beside the recorded memory; null: none
  std::string file = {};                 // how the user named the trace
  // Of this trace, which is the worst, and others; null: there are none.
  const RankReport* ranks = nullptr;
};

void RenderReportHtml(const ReportPage& page, std::ostream& out);

}  // namespace graphkit
