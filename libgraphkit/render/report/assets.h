// The sources of the pages, as they stand in libgraphkit/render/report/.
#pragma once

#include <string_view>

namespace graphkit {

extern const std::string_view kReportPage;    // page.html
extern const std::string_view kReportStyle;   // style.css, of both pages
extern const std::string_view kReportScript;  // the report's scripts, one after the other
extern const std::string_view kDiffPage;      // diff.html
extern const std::string_view kDiffScript;    // the diff's scripts

}  // namespace graphkit
