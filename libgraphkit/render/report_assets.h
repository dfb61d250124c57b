// The sources of the report's page, as they stand in libgraphkit/render/report/.
#pragma once

#include <string_view>

namespace graphkit {

extern const std::string_view kReportPage;    // page.html
extern const std::string_view kReportStyle;   // style.css
extern const std::string_view kReportScript;  // the scripts, one after the other

}  // namespace graphkit
