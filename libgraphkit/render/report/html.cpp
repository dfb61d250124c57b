#include "libgraphkit/render/report/html.h"

#include <sstream>

#include "libgraphkit/render/ranks/ranks.h"
#include "libgraphkit/render/report/data.h"
#include "libgraphkit/render/report/packed_columns.h"
#include "libgraphkit/render/report/page_sources.h"

namespace graphkit {
namespace {

constexpr uint64_t kMostDrawn = 5'000'000;  // nodes, edges and blocks of all ranks
constexpr size_t kMostBytes = 16'000'000;   // of the drawings, packed

// A page loads nothing: what it runs and how it looks stands in it.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

PageParts ReportParts() { return {kReportPage, kReportStyle, kReportScript, "report"}; }

uint64_t ToDraw(const RankSummary& rank) {
  uint64_t records = 0;
  for (const char* figure : {"nodes", "edges", "blocks"}) {
    records += rank.figures[FigureIndex(figure)].value_or(0);
  }
  return records;
}

// The worst, the first of each group, all.
std::vector<uint32_t> ByInterest(const RankReport& ranks) {
  std::vector<uint32_t> order = {ranks.worst()};
  const auto add = [&order](uint32_t rank) {
    if (std::ranges::find(order, rank) == order.end()) order.push_back(rank);
  };
  for (const RankGroup& group : ranks.groups) add(group.ranks.front());
  for (uint32_t rank = 0; rank < ranks.ranks.size(); ++rank) add(rank);
  return order;
}

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
  WritePage(ReportParts(), PackDrawing(page), "", out);
}

std::vector<uint32_t> RanksToDraw(const RankReport& ranks) {
  std::vector<uint32_t> drawn;
  uint64_t together = 0;
  for (const uint32_t rank : ByInterest(ranks)) {
    const uint64_t records = ToDraw(ranks.ranks[rank]);
    const bool fits = records > 0 && together + records <= kMostDrawn;
    if (!drawn.empty() && !fits) continue;
    together += records;
    drawn.push_back(rank);
  }
  return drawn;
}

void RenderRanksHtml(const RankReport& ranks, std::span<const RankDrawing> drawings,
                     std::ostream& out) {
  std::ostringstream json;
  RenderRanksJson(ranks, json);
  const RankDrawing& worst = drawings.front();
  std::string more = DataScript("id=\"ranks\"", Packed(json.str()));
  size_t bytes = worst.packed.size();
  for (const RankDrawing& drawing : drawings.subspan(1)) {
    if (bytes + drawing.packed.size() > kMostBytes) continue;
    bytes += drawing.packed.size();
    more += DataScript("data-rank=\"" + std::to_string(drawing.rank) + "\"", drawing.packed);
  }
  WritePage(ReportParts(), worst.packed, more, out);
}

std::string DataScript(const std::string& attributes, std::string_view packed) {
  return "<script type=\"application/octet-stream\" " + attributes + ">" + std::string(packed) +
         "</script>\n";
}

std::string Packed(std::string_view data) { return Base64(Deflate(data)); }

void WritePage(const PageParts& parts, std::string_view data, std::string_view more,
               std::ostream& out) {
  const auto value = [&](std::string_view name) -> std::string_view {
    if (name == "style") return parts.style;
    if (name == "script") return parts.script;
    if (name == "more") return more;
    if (name == "name") return parts.name;
    if (name == "policy") return kPolicy;
    return name == "data" ? data : std::string_view();
  };
  Fill(parts.page, value, out);
}

}  // namespace graphkit
