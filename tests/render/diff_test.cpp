// The presenters of `graphkit diff`.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "libgraphkit/compare/diff.h"
#include "libgraphkit/render/diff/html.h"
#include "libgraphkit/render/diff/json.h"
#include "libgraphkit/render/diff/text.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

//  before   main: first ─── scale ─── last                 side: copy
//  after    main: first ─p─ scale (grid 8) ─── last, more  side: (nothing)
Ran Before() {
  TraceBuilder t;
  const StreamId main = t.Stream("main"), side = t.Stream();
  t.BeginCapture(main, "step");
  t.Kernel(main, "first");
  t.Order(main, side);
  t.Kernel(main, "scale");
  t.Memset(side);
  t.Order(side, main);
  t.Kernel(main, "last");
  t.EndCapture(main);
  return t.Build();
}

Ran After() {
  TraceBuilder t;
  const StreamId main = t.Stream("main");
  t.BeginCapture(main, "step");
  t.Kernel(main, "first");
  t.ProgrammaticKernel(main, "scale");
  t.Kernel(main, "last");
  t.Kernel(main, "more\x1b[31m");
  t.EndCapture(main);
  t.Graph("empty");
  Ran trace = t.Build();
  trace.shapes.push_back({.grid = {8, 1, 1}});
  trace.nodes.Change(1, [](Node& node) { node.shape = 1; });
  return trace;
}

Report ReportWith(Bytes deferred, int findings) {
  GraphSummary summary;
  summary.graph = GraphId(0u);
  summary.deferred_bytes = deferred;
  Report report;
  report.graphs = {summary};
  const Finding finding{.check = "late-free", .message = "block 0 is freed late", .bytes = 512};
  report.findings.assign(static_cast<size_t>(findings), finding);
  return report;
}

std::string Text(const Ran& before, const Ran& after, const TextStyle& style = {}) {
  std::ostringstream out;
  const TraceDiff diff = DiffTraces(before, ReportWith(1024, 1), after, ReportWith(2048, 2));
  RenderDiffText(diff, {before, "a.json"}, {after, "b.json"}, {style, out});
  return out.str();
}

TEST_CASE("the text lists what differs, graph by graph") {
  CHECK(Text(Before(), After()) == R"(before: a.json, after: b.json

graph 0 "step": 3 nodes matched, 1 removed, 1 added, 1 parameter changed, 1 edge changed
  deferred  1 KiB  →  2 KiB
  - node 2 memset on stream 1
  + node 3 more\x1b[31m on stream 0 "main"
  ~ node 1 scale: grid 1x1x1 → 8x1x1
  ~ edge node 0 first → node 1 scale: full → programmatic, port 1

Findings
  + late-free: 1 → 2, 512 B → 1 KiB (block 0 is freed late)

different: 0 of 1 graph equal, findings differ
)");
}

TEST_CASE("equal traces are said to be equal") {
  const Ran trace = Before();
  std::ostringstream out;
  RenderDiffText(DiffTraces(trace, {}, trace, {}), {trace, "a.json"}, {trace, "a.json"}, {{}, out});
  CHECK(out.str() == "before: a.json, after: a.json\n\nequal: 1 of 1 graph equal\n");
}

TEST_CASE("long lists are cut and say so") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a, "step");
  for (int i = 0; i < 5; ++i) t.Kernel(a, "k" + std::to_string(i));
  t.EndCapture(a);
  const std::string text = Text(Before(), t.Build(), {.top = 2});
  CHECK(text.find("  + and 3 more; --top 0 shows all\n") != std::string::npos);
}

TEST_CASE("the JSON holds every difference with both sides") {
  const Ran before = Before(), after = After();
  std::ostringstream out;
  const TraceDiff diff = DiffTraces(before, ReportWith(0, 0), after, ReportWith(0, 1));
  RenderDiffJson(diff, {before, "a.json"}, {after, "b.json"}, out);
  const auto root = nlohmann::json::parse(out.str());
  using nlohmann::json;
  CHECK(root["schema"] == "graphkit-diff");
  CHECK(root["equal"] == false);
  CHECK(root["after"] == json{{"file", "b.json"}, {"complete", true}});
  const json& graph = root["graphs"][0];
  CHECK(graph["removed_nodes"] ==
        json::array({json{{"id", 2}, {"kind", "memset"}, {"kernel", nullptr}, {"stream", 1}}}));
  CHECK(graph["added_nodes"][0]["kernel"] == "more\x1b[31m");
  CHECK(graph["parameters"][0]["what"] == "grid");
  CHECK(graph["parameters"][0]["node"]["after"]["id"] == 1);
  CHECK(graph["changed_edges"][0]["after"]["from_port"] == 1);
  CHECK(root["findings"][0]["count_after"] == 1);
}

//  drawn    first ──~── scale~ ───── last ──+── more+
//             ╰──×── memset- ──×──────╯
TEST_CASE("what changed is drawn together with what is next to it") {
  const Ran before = Before(), after = After();
  const TraceDiff diff = DiffTraces(before, ReportWith(0, 0), after, ReportWith(0, 0));
  const std::vector<DiffDrawing> drawings = DrawDiff(diff, before, after);
  REQUIRE(drawings.size() == 1);
  std::string boxes, arrows;
  for (const DiffBox& box : drawings[0].boxes) boxes += std::string(NameOf(box.change)) + " ";
  for (const DiffArrow& arrow : drawings[0].arrows) {
    arrows += std::to_string(arrow.from) + "-" + std::to_string(arrow.to) + " " +
              std::string(NameOf(arrow.change)) + " ";
  }
  CHECK(boxes == "same changed removed same added ");
  CHECK(arrows == "0-1 changed 1-3 same 3-4 added 0-2 removed 2-3 removed ");
}

TEST_CASE("equal graphs aren't drawn") {
  const Ran trace = Before();
  const TraceDiff diff = DiffTraces(trace, ReportWith(0, 0), trace, ReportWith(0, 0));
  CHECK(DrawDiff(diff, trace, trace).empty());
}

TEST_CASE("the page of a diff holds nothing of the traces but compressed data") {
  const Ran before = Before(), after = After();
  const TraceDiff diff = DiffTraces(before, ReportWith(0, 0), after, ReportWith(1, 0));
  std::ostringstream out;
  RenderDiffHtml(diff, {before, "</script>a.json"}, {after, "b.json"}, {}, out);
  CHECK(out.str().find("a.json") == std::string::npos);
  CHECK(out.str().find("{{") == std::string::npos);
}

}  // namespace
}  // namespace graphkit
