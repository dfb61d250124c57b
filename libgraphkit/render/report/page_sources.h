// The sources of the pages, as they stand in libgraphkit/render/report/page: the build writes the
// file that defines them (tools/cmake/embed_report.cmake).
#pragma once

#include <string_view>

namespace graphkit {

extern const std::string_view kReportPage;    // page.html
extern const std::string_view kReportStyle;   // style.css, of all pages
extern const std::string_view kReportScript;  // the report's scripts, one after the other
extern const std::string_view kSinglePage;    // single.html, of one result
extern const std::string_view kDiffScript;    // the diff's scripts
extern const std::string_view kAttributeScript;

}  // namespace graphkit
