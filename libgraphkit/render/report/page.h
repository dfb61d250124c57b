// HTML pages that hold all they need.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace graphkit {

struct PageParts {
  std::string_view page;    // with {{style}}, {{script}}, {{data}} and {{more}} where these go
  std::string_view style;   // CSS
  std::string_view script;  // JavaScript
};

// Deflated, as base64: whatever the data are, they can't be taken for markup.
std::string Packed(std::string_view data);

// `data` is packed; `more` is markup, of packed data as well.
void WritePage(const PageParts& parts, std::string_view data, std::string_view more,
               std::ostream& out);

// The sources of the pages, as they stand in libgraphkit/render/report/.
extern const std::string_view kReportPage;    // page.html
extern const std::string_view kReportStyle;   // style.css, of both pages
extern const std::string_view kReportScript;  // the report's scripts, one after the other
extern const std::string_view kDiffPage;      // diff.html
extern const std::string_view kDiffScript;    // the diff's scripts

}  // namespace graphkit
