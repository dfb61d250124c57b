// A trace and its report as one HTML file that needs nothing else: no network, no other file. A
// person opens it to look at memory over capture order, streams, findings and the memory bill.
//
// Sources of the page: libgraphkit/render/report/; they are put into the library when it is built.
// All that comes from the trace is compressed data, which the page shows as text, never as markup.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// `report` is of the facts' trace.
struct ReportPage {
  const Facts& facts;
  const Report& report;
  const PolicyReplay* policy = nullptr;    // drawn beside the recorded memory; null: none
  std::string file = {};                   // how the user named the trace
  std::vector<MemoryAccount> memory = {};  // of each device; none: sizes are unknown
  // The page on a check, Markdown; null: there are none.
  std::string_view (*page_of)(std::string_view check) = nullptr;
};

void RenderReportHtml(const ReportPage& page, std::ostream& out);

// One of many traces, packed to be drawn.
struct RankDrawing {
  uint32_t rank = 0;
  std::string packed;
  bool operator==(const RankDrawing&) const = default;
};

// The ranks that a page can draw: the worst, the first of each group that differs, then the others
// as they were given, as long as they come to a few million nodes, edges and blocks. Those that
// hold nothing are left out, but for the worst.
std::vector<uint32_t> RanksToDraw(const RankReport& ranks);

// A page of all traces. The first drawing is of the worst; those of the others are there to be
// chosen, as many as leave the file at some 16 MB.
void RenderRanksHtml(const RankReport& ranks, std::span<const RankDrawing> drawings,
                     std::ostream& out);

// HTML pages that hold all they need.
struct PageParts {
  std::string_view page;       // with {{style}}, {{script}}, {{data}} … where these go
  std::string_view style;      // CSS
  std::string_view script;     // JavaScript
  std::string_view name = {};  // of the subcommand that prints the same as text
};

// An element of the page that holds packed data; `attributes` as in markup.
std::string DataScript(const std::string& attributes, std::string_view packed);

// Deflated, as base64: whatever the data are, they can't be taken for markup.
std::string Packed(std::string_view data);

// `data` is packed; `more` is markup, of packed data as well.
void WritePage(const PageParts& parts, std::string_view data, std::string_view more,
               std::ostream& out);

}  // namespace graphkit
