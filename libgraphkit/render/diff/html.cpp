#include "libgraphkit/render/diff/html.h"

#include <sstream>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/diff.h"
#include "libgraphkit/render/diff/json.h"
#include "libgraphkit/render/diff/memory_text.h"
#include "libgraphkit/render/diff/text.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/report/html.h"
#include "libgraphkit/render/report/page_sources.h"

namespace graphkit {

namespace {

constexpr size_t kCellTitleColumns = 40;

struct DrawingJson {
  const Ran &before, &after;

  Json Of(const GraphDiff& diff, const DiffDrawing& drawing) const {
    const std::string title = PairTitle(before, after, diff);
    return Json{
        {"title", title},
        {"boxes", ListJson(drawing.boxes, [this](const DiffBox& box) { return BoxOf(box); })},
        {"arrows", ListJson(drawing.arrows, [this](const DiffArrow& a) { return ArrowOf(a); })},
        {"left_out", drawing.left_out}};
  }

  Json BoxOf(const DiffBox& box) const {
    const Ran& trace = box.after ? after : before;
    const NodeId id = box.after ? box.after : box.before;
    const StreamId stream = trace[id].stream;
    return Json{{"name", NodeTitle(trace, id, kCellTitleColumns)},
                {"before", box.before},
                {"after", box.after},
                {"change", box.change},
                {"what", box.what},
                {"lane", stream ? StreamTitle(trace, stream) : "no stream"}};
  }

  Json ArrowOf(const DiffArrow& arrow) const {
    const bool changed = arrow.change == Change::kChanged;
    return Json{{"from", arrow.from},
                {"to", arrow.to},
                {"change", arrow.change},
                {"what", changed ? EdgeDataText(before[arrow.before]) + " → " +
                                       EdgeDataText(after[arrow.after])
                                 : ""}};
  }
};

Json TitlesJson(const Ran& trace, const std::vector<GraphId>& graphs) {
  return ListJson(graphs, [&trace](GraphId id) { return GraphTitle(trace, id); });
}

// The titles of the holders, of each device.
Json HolderTitlesJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after) {
  return ListJson(diff.memory, [&](const MemoryDiff& memory) {
    return ListJson(memory.holders, [&](const HolderChange& change) {
      return HolderChangeTitle(change, memory, before, after);
    });
  });
}

}  // namespace

void RenderDiffHtml(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const DrawnSides& drawn, std::ostream& out) {
  const std::vector<DiffDrawing> drawings = DrawDiff(diff, before.trace, after.trace);
  const DrawingJson drawing_json{before.trace, after.trace};
  Json graphs = Json::array();
  for (const GraphDiff& graph : diff.graphs) {
    if (!graph.equal()) graphs.push_back(drawing_json.Of(graph, drawings[graphs.size()]));
  }
  const Json page = {{"before", Printable(before.file)},
                     {"after", Printable(after.file)},
                     {"removed_graphs", TitlesJson(before.trace, diff.removed_graphs)},
                     {"added_graphs", TitlesJson(after.trace, diff.added_graphs)},
                     {"holders", HolderTitlesJson(diff, before, after)},
                     {"drawings", std::move(graphs)}};
  std::ostringstream text;
  text << "{\"diff\":";
  RenderDiffJson(diff, before, after, text);
  text << ",\"page\":" << Dump(page) << "}";
  std::string sides;
  if (!drawn.before.empty()) {
    sides = DataScript("id=\"before\"", drawn.before) + DataScript("id=\"after\"", drawn.after);
  }
  WritePage({kSinglePage, kReportStyle, kDiffScript, "diff"}, Packed(text.str()), sides, out);
}

}  // namespace graphkit
