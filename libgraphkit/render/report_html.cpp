#include "libgraphkit/render/report_html.h"

#include "libgraphkit/render/page.h"
#include "libgraphkit/render/report_assets.h"
#include "libgraphkit/render/report_data.h"

namespace graphkit {

void RenderReportHtml(const ReportPage& page, std::ostream& out) {
  WritePage({kReportPage, kReportStyle, kReportScript}, ReportData(page), out);
}

}  // namespace graphkit
