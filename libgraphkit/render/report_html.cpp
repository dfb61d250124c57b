#include "libgraphkit/render/report_html.h"

#include <string_view>

#include "libgraphkit/render/packed_columns.h"
#include "libgraphkit/render/report_assets.h"
#include "libgraphkit/render/report_data.h"

namespace graphkit {

namespace {

// Writes `text` with each "{{name}}" replaced by what `value` gives for the name.
template <typename Value>
void Fill(std::string_view text, Value value, std::ostream& out) {
  while (true) {
    const size_t open = text.find("{{");
    const size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    out << text.substr(0, open);
    if (close == std::string_view::npos) return;
    out << value(text.substr(open + 2, close - open - 2));
    text.remove_prefix(close + 2);
  }
}

}  // namespace

void RenderReportHtml(const ReportPage& page, std::ostream& out) {
  const std::string data = Base64(Deflate(ReportData(page)));
  const auto value = [&](std::string_view name) -> std::string_view {
    if (name == "style") return kReportStyle;
    if (name == "script") return kReportScript;
    return name == "data" ? std::string_view(data) : std::string_view();
  };
  Fill(kReportPage, value, out);
}

}  // namespace graphkit
