#include <nlohmann/json.hpp>
#include <sstream>

#include "libgraphkit/render/diff/diff.h"
#include "libgraphkit/render/diff/drawing.h"
#include "libgraphkit/render/names.h"
#include "libgraphkit/render/printable.h"
#include "libgraphkit/render/report/page.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kCellTitleColumns = 40;

class DrawingJson {
 public:
  DrawingJson(const Trace& before, const Trace& after) : before_(before), after_(after) {}

  Json Of(const GraphDiff& diff, const DiffDrawing& drawing) const {
    Json boxes = Json::array(), arrows = Json::array();
    for (const DiffBox& box : drawing.boxes) boxes.push_back(BoxOf(box));
    for (const DiffArrow& arrow : drawing.arrows) arrows.push_back(ArrowOf(arrow));
    std::string title = GraphTitle(before_, diff.before);
    if (diff.before != diff.after) title += " → " + GraphTitle(after_, diff.after);
    return Json{{"title", title},
                {"boxes", std::move(boxes)},
                {"arrows", std::move(arrows)},
                {"left_out", drawing.left_out}};
  }

 private:
  Json BoxOf(const DiffBox& box) const {
    const Trace& trace = box.after ? after_ : before_;
    const NodeId id = box.after ? box.after : box.before;
    const StreamId stream = trace[id].stream;
    return Json{{"name", NodeTitle(trace, id, kCellTitleColumns)},
                {"before", box.before ? Json(box.before.value) : Json(nullptr)},
                {"after", box.after ? Json(box.after.value) : Json(nullptr)},
                {"change", ChangeName(box.change)},
                {"what", box.what},
                {"lane", stream ? StreamTitle(trace, stream) : "no stream"}};
  }

  Json ArrowOf(const DiffArrow& arrow) const {
    const bool changed = arrow.change == Change::kChanged;
    return Json{{"from", arrow.from},
                {"to", arrow.to},
                {"change", ChangeName(arrow.change)},
                {"what", changed ? EdgeDataText(before_[arrow.before]) + " → " +
                                       EdgeDataText(after_[arrow.after])
                                 : ""}};
  }

  const Trace& before_;
  const Trace& after_;
};

Json TitlesJson(const Trace& trace, const std::vector<GraphId>& graphs) {
  Json titles = Json::array();
  for (const GraphId id : graphs) titles.push_back(GraphTitle(trace, id));
  return titles;
}

}  // namespace

void RenderDiffHtml(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out) {
  const std::vector<DiffDrawing> drawings = DrawDiff(diff, before.trace, after.trace);
  const DrawingJson drawing_json(before.trace, after.trace);
  Json graphs = Json::array();
  for (const GraphDiff& graph : diff.graphs) {
    if (!graph.equal()) graphs.push_back(drawing_json.Of(graph, drawings[graphs.size()]));
  }
  const Json page = {{"before", Printable(before.file)},
                     {"after", Printable(after.file)},
                     {"removed_graphs", TitlesJson(before.trace, diff.removed_graphs)},
                     {"added_graphs", TitlesJson(after.trace, diff.added_graphs)},
                     {"drawings", std::move(graphs)}};
  std::ostringstream text;
  text << "{\"diff\":";
  RenderDiffJson(diff, before, after, text);
  text << ",\"page\":" << page.dump(-1, ' ', false, Json::error_handler_t::replace) << "}";
  WritePage({kDiffPage, kReportStyle, kDiffScript}, Packed(text.str()), "", out);
}

}  // namespace graphkit
