#include "libgraphkit/render/report/data.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/model/nesting.h"
#include "libgraphkit/render/analyze/json.h"
#include "libgraphkit/render/dot/labels.h"
#include "libgraphkit/render/explain/explain.h"
#include "libgraphkit/render/report/layout.h"
#include "libgraphkit/render/report/packed_columns.h"

namespace graphkit {

namespace {

constexpr std::string_view kContents[] = {"untouched", "scratch", "input",  "constant",
                                          "state",     "output",  "unknown"};
constexpr size_t kShortNameColumns = 48;
constexpr size_t kFullNameColumns = 4000;  // of a full name; the middle of longer ones is left out

// Names of nodes, by number.
struct NodeTexts {
  std::vector<StringId> name;            // by node, in the two lists below
  StringTable names;                     // "void add<float>(float*, int)"
  std::vector<std::string> short_names;  // "add<…>"
  std::vector<StringId> detail;          // by node, in `details`
  StringTable details;                   // "64 blocks of 256"
};
// Titles are told apart by their full names: two instances of a template have one each.
NodeTexts NameNodes(const Ran& trace) {
  NodeTexts texts;
  std::vector<StringId> known(trace.kernels.size() + 256);  // by kernel; of others by kind
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    const bool kernel = node.kind == NodeKind::kKernel && node.kernel;
    const size_t kind = trace.kernels.size() + static_cast<size_t>(node.kind);
    StringId& number = known[kernel ? node.kernel.index() : kind];
    if (!number) {
      std::string name = kernel ? Demangle(trace[trace[node.kernel].name]) : "";
      if (name.empty()) name = NodeKindName(node.kind);
      number = texts.names.Intern(Ellipsize(name, kFullNameColumns));
      if (number.index() == texts.short_names.size()) {
        texts.short_names.push_back(NodeTitle(trace, NodeId(i), kShortNameColumns));
      }
    }
    texts.name.push_back(number);
    texts.detail.push_back(texts.details.Intern(NodeDetail(trace, NodeId(i))));
  }
  return texts;
}

Json StacksJson(const Ran& trace) {
  Json stacks = Json::array();
  for (size_t i = 0; i < trace.stacks.size(); ++i) {
    Json frames = Json::array();
    for (const StackFrame& frame : StackFrames(trace, StackId(i))) {
      const std::string_view function = trace[frame.function], file = trace[frame.file];
      frames.push_back(
          Json::array({Ellipsize(Demangle(function), kFullNameColumns), Printable(ShownFile(file)),
                       frame.line, IsLibraryFrame(function, file)}));
    }
    stacks.push_back(std::move(frames));
  }
  return stacks;
}

// Of each stack its line, as one more than the place among its frames or 0, its operator and the
// role of its memory.
Json StackNamesJson(const Ran& trace) {
  Json names = Json::array();
  for (const StackName& name : NamesOfStacks(trace)) {
    const uint32_t first = trace.stacks[names.size()].frames.first;
    names.push_back({name.frame ? *name.frame - first + 1 : 0, name.operation, name.role});
  }
  return names;
}

// Ids that may be none: one more than the id, or 0.
template <typename Tag>
uint64_t Maybe(Id<Tag> id) {
  return id ? uint64_t{id.value} + 1 : 0;
}

void AddNodes(const Ran& trace, const NodeTexts& texts, PackedColumns& columns) {
  const auto add = [&](const char* name, auto get) { columns.AddAll(name, trace.nodes, get); };
  add("node.graph", [](const Node& n) { return Maybe(n.graph); });
  add("node.stream", [](const Node& n) { return Maybe(n.stream); });
  add("node.kind",
      [](const Node& n) { return std::min(uint64_t(n.kind), uint64_t(kNodeKindCount)); });
  columns.AddAll("node.name", texts.name, [](StringId id) { return id.value; });
  columns.AddAll("node.detail", texts.detail, [](StringId id) { return id.value; });
  add("node.stack", [](const Node& n) { return Maybe(n.stack); });
  add("node.duration", [](const Node& n) { return uint64_t{n.duration_ns}; });
  add("node.accesses", [](const Node& n) { return n.accesses.count; });
  std::vector<Access> accesses;
  for (const Node& node : trace.nodes) {
    for (const Access& access : trace.accesses.Of(node.accesses)) accesses.push_back(access);
  }
  columns.AddAll("access.block", accesses, [](const Access& a) { return Maybe(a.block); });
  columns.AddAll("access.mode", accesses, [](const Access& a) { return uint64_t(a.mode); });
}

// Full edges are 0, programmatic ones 1, launch completion 2.
uint64_t EdgeSort(const Edge& edge) {
  if (edge.full()) return 0;
  return edge.from_port == kPortLaunchCompletion ? 2 : 1;
}

void AddEdges(const Ran& trace, PackedColumns& columns) {
  const auto add = [&](const char* name, auto get) {
    columns.AddAll(name, trace.graph_edges, get);
  };
  add("edge.id", [](EdgeId id) { return id.value; });
  add("edge.from", [&](EdgeId id) { return trace[id].from.value; });
  add("edge.to", [&](EdgeId id) { return trace[id].to.value; });
  add("edge.sort", [&](EdgeId id) { return EdgeSort(trace[id]); });
}

// What becomes of a block's content: in `contents`.
void AddContents(const Facts& facts, PackedColumns& columns) {
  const auto classes = ClassesOfBlocks(facts.trace, FindContent(facts, MarkerRule::kLastUse));
  columns.AddAll("block.content", classes, [](std::string_view name) {
    return uint64_t(std::ranges::find(kContents, name) - std::begin(kContents));
  });
}

void AddBlocks(const Ran& trace, PackedColumns& columns) {
  const auto add = [&](const char* name, auto get) { columns.AddAll(name, trace.blocks, get); };
  add("block.size", [](const Block& b) { return b.size; });
  add("block.slack", [](const Block& b) { return b.slack; });
  add("block.address", [](const Block& b) { return b.address; });
  add("block.pool", [](const Block& b) { return Maybe(b.pool); });
  add("block.segment", [](const Block& b) { return Maybe(b.segment); });
  add("block.stream", [](const Block& b) { return Maybe(b.stream); });
  add("block.graph", [](const Block& b) { return Maybe(b.graph); });
  add("block.stack", [](const Block& b) { return Maybe(b.stack); });
  add("block.free_stack", [](const Block& b) { return Maybe(b.free_stack); });
  add("block.freed", [](const Block& b) { return b.freed() ? 1u : 0u; });
}

// A list of all views, one view behind the other: how many entries each view has, then columns of
// these names. The list goes once it is packed.
template <typename Entry, typename... Get>
void AddList(const char* sizes, std::vector<Entry> ReportView::*list,
             std::vector<ReportView>& views, PackedColumns& columns,
             const std::pair<const char*, Get>&... named) {
  columns.AddAll(sizes, views, [&](const ReportView& view) { return (view.*list).size(); });
  const auto add = [&](const char* name, const auto& get) {
    columns.Begin(name);
    for (const ReportView& view : views) {
      for (const Entry& entry : view.*list) columns.Add(std::invoke(get, entry));
    }
  };
  (add(named.first, named.second), ...);
  for (ReportView& view : views) std::exchange(view.*list, {});
}

void AddViews(std::vector<ReportView>& views, PackedColumns& columns) {
  using std::pair;
  AddList("views.nodes", &ReportView::nodes, views, columns,
          pair("view.node", [](const auto& p) { return p.id.value; }),
          pair("view.node.x", &LanePlace<NodeId>::x),
          pair("view.node.lane", &LanePlace<NodeId>::lane));
  AddList("views.blocks", &ReportView::blocks, views, columns,
          pair("view.block", [](const BlockPlace& p) { return p.block.value; }),
          pair("view.block.begin", &BlockPlace::begin),
          pair("view.block.freed", &BlockPlace::freed), pair("view.block.end", &BlockPlace::end),
          pair("view.block.offset", &BlockPlace::offset));
  AddList("views.policy", &ReportView::policy, views, columns,
          pair("view.policy", [](const PolicyPlace& p) { return p.block.value; }),
          pair("view.policy.offset", &PolicyPlace::offset));
  AddList("views.launches", &ReportView::launches, views, columns,
          pair("view.launch", [](const auto& p) { return p.id.value; }),
          pair("view.launch.x", &LanePlace<LaunchId>::x),
          pair("view.launch.lane", &LanePlace<LaunchId>::lane));
  AddList("views.events", &ReportView::events, views, columns,
          pair("view.event.x", std::identity()));
  AddList("views.path", &ReportView::path, views, columns, pair("view.path", &NodeId::value));
  AddList("views.bands", &ReportView::bands, views, columns,
          pair("view.band.pool", [](const MemoryBand& b) { return Maybe(b.pool); }),
          pair("view.band.segment", [](const MemoryBand& b) { return Maybe(b.segment); }),
          pair("view.band.offset", &MemoryBand::offset), pair("view.band.size", &MemoryBand::size));
}

// The pairs of "reuse" of each graph, one graph behind the other.
void AddReuse(const Report& report, PackedColumns& columns) {
  columns.AddAll("graphs.reuse", report.graphs,
                 [](const GraphSummary& graph) { return graph.reuse.size(); });
  std::vector<ReusePair> pairs;
  for (const GraphSummary& graph : report.graphs)
    pairs.insert(pairs.end(), graph.reuse.begin(), graph.reuse.end());
  columns.AddAll("reuse.earlier", pairs, [](const ReusePair& pair) { return pair.earlier.value; });
  columns.AddAll("reuse.later", pairs, [](const ReusePair& pair) { return pair.later.value; });
  columns.AddAll("reuse.bytes", pairs, [](const ReusePair& pair) { return pair.bytes; });
  columns.AddAll("reuse.assumes", pairs,
                 [](const ReusePair& pair) { return uint64_t(pair.assumes); });
}

Json ViewJson(const Ran& trace, const ReportView& view) {
  const auto lane = [](const ReportLane& of) {
    return Json::array({of.title, of.graph, of.stream});
  };
  const auto band = [](const MemoryBand& of) {
    return Json::array({of.pool, of.segment, of.offset, of.size});
  };
  return Json{{"root", view.root},
              {"title", view.root ? GraphTitle(trace, view.root) : "the whole program"},
              {"width", view.width},
              {"lanes", ListJson(view.lanes, lane)},
              {"extent", view.extent},
              {"policy_bands", ListJson(view.policy_bands, band)},
              {"policy_extent", view.policy_extent}};
}

Json PolicyJson(const PolicyReplay* policy) {
  if (policy == nullptr) return nullptr;
  return Json{{"name", policy->given.empty() ? InfoOf(policy->policy).name : policy->given},
              {"assumes", policy->assumes},
              {"verified", policy->verified},
              {"peak_extent_bytes", policy->figures.peak_extent}};
}

template <typename Column, typename Title>
Json TitlesJson(const Column& column, Title title) {
  Json titles = Json::array();
  for (size_t i = 0; i < column.size(); ++i) titles.push_back(title(i));
  return titles;
}

Json TextsJson(const StringTable& texts) {
  return TitlesJson(texts, [&](size_t i) { return texts[StringId(i)]; });
}

Json NamesJson(const Ran& trace, const NodeTexts& texts) {
  Json kinds = Names<NodeKind>::value;
  kinds.push_back(NodeKindName(NodeKind::kUnknown));
  return Json{
      {"kinds", std::move(kinds)},
      {"names", TextsJson(texts.names)},
      {"short_names", texts.short_names},
      {"details", TextsJson(texts.details)},
      {"assumptions", Names<Assumption>::value},
      {"contents", kContents},
      {"stacks", StacksJson(trace)},
      {"stack_names", StackNamesJson(trace)},
      {"stack_titles",
       TitlesJson(trace.stacks, [&](size_t i) { return StackTitle(trace, StackId(i)); })},
      {"streams",
       TitlesJson(trace.streams, [&](size_t i) { return StreamTitle(trace, StreamId(i)); })},
      {"pools", TitlesJson(trace.pools, [&](size_t i) { return PoolTitle(trace, PoolId(i)); })},
      {"graphs", TitlesJson(trace.graphs, [&](size_t i) { return GraphTitle(trace, GraphId(i)); })},
      {"parents", TitlesJson(trace.graphs, [&](size_t i) { return Json(trace.graphs[i].parent); })},
      {"roots", ListJson(FindRoots(trace), [](GraphId root) { return root.value; })},
      {"launches", TitlesJson(trace.launches, [&](size_t i) {
         const ExecId exec = trace.launches[i].exec;
         return Json(exec ? trace[exec].graph : GraphId());
       })}};
}

// The graphs that each exec ran, in order: the one that it was instantiated from, and those that it
// was updated to; each with its launches.
Json ExecsJson(const Ran& trace) {
  std::map<std::pair<ExecId, Seq>, uint64_t> launches;  // by exec, and the graph since then
  for (const Launch& launch : trace.launches) {
    if (!launch.exec) continue;
    ++launches[{launch.exec, trace.GraphBefore(launch.exec, launch.seq).since}];
  }
  return TitlesJson(trace.execs, [&](size_t i) {
    return ListJson(trace.GraphsOf(ExecId(i)), [&](const ExecGraph& of) {
      return Json::array({Json(of.graph), launches[{of.exec, of.since}]});
    });
  });
}

// Of the checks that found something.
Json CheckPagesJson(const ReportPage& page) {
  Json pages = Json::object();
  if (page.page_of == nullptr) return pages;
  for (const Finding& finding : page.report.findings) {
    if (!pages.contains(finding.check)) pages[finding.check] = page.page_of(finding.check);
  }
  return pages;
}

Json ColumnsJson(const PackedColumns& columns) {
  Json list = Json::array();
  for (const PackedColumns::Column& column : columns.columns())
    list.push_back({column.name, column.count, column.wide ? 1 : 0});
  return list;
}

}  // namespace

std::string PackDrawing(const ReportPage& page) {
  const Ran& trace = page.facts.trace;
  std::string text = "{\"analyze\":" + Dump(ReportJson(page.report, trace, false));
  const NodeTexts texts = NameNodes(trace);
  PackedColumns columns;
  Json json{{"file", Printable(page.file)},        {"policy", PolicyJson(page.policy)},
            {"check_pages", CheckPagesJson(page)}, {"texts", NamesJson(trace, texts)},
            {"execs", ExecsJson(trace)},           {"memory", MemoryJson(page.memory)}};
  {
    std::vector<ReportView> views = LayOutReport(page.facts, page.policy);
    json["views"] =
        ListJson(views, [&trace](const ReportView& view) { return ViewJson(trace, view); });
    AddViews(views, columns);
  }
  AddNodes(trace, texts, columns);
  AddEdges(trace, columns);
  AddBlocks(trace, columns);
  AddContents(page.facts, columns);
  AddReuse(page.report, columns);
  columns.AddAll("event.us", PlacesOfEvents(trace, {}),
                 [&](Seq seq) { return seq < trace.times.size() ? trace.times[seq] / 1000 : 0; });
  json["columns"] = ColumnsJson(columns);
  text += ",\"page\":" + Dump(json) + "}";
  const size_t length = text.size();
  columns.AppendTo(text);
  for (size_t i = 0; i < sizeof(uint32_t); ++i) text += static_cast<char>(length >> 8 * i & 0xff);
  return Packed(text);
}

}  // namespace graphkit
