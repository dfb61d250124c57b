// `graphkit dot`: the graphs of a trace as a drawing.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/render/dot/dot.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct DotArguments {
  std::string trace;
  std::string output = "-";
  uint32_t graph = GraphId::kNone;
  uint32_t focus = NodeId::kNone;
  bool critical_path = false;
  size_t top = 20;
  DotOptions options;
  bool open = false;
};

// "svg" of "capture.svg"; "dot" for stdout and for what has no ending.
std::string FormatOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (path == "-" || ending.size() < 2 || ending == ".gv") return "dot";
  return ending.substr(1);
}

// An error when the id was given and there is no such thing.
Result<void> CheckId(const char* what, uint32_t id, size_t count, const std::string& file) {
  if (id == GraphId::kNone || id < count) return {};
  const std::string name = what;
  return Error{.message = "no " + name + " " + std::to_string(id),
               .hint = count == 0   ? "the trace holds none"
                       : count == 1 ? "the trace holds one, " + name + " 0"
                                    : "the " + name + "s are 0 to " + std::to_string(count - 1),
               .file = file};
}

Result<void> CheckIds(const Ran& trace, const DotArguments& arguments) {
  const auto graph = CheckId("graph", arguments.graph, trace.graphs.size(), arguments.trace);
  if (!graph) return graph;
  return CheckId("node", arguments.focus, trace.nodes.size(), arguments.trace);
}

DotOptions OptionsOf(const Ran& trace, const DotArguments& arguments) {
  DotOptions options = arguments.options;
  options.select.graph = GraphId(arguments.graph);
  options.select.focus = NodeId(arguments.focus);
  options.select.most_graphs = arguments.top;
  if (arguments.critical_path) {
    options.path = LongestPath(trace, Select(trace, options.select).nodes);
  }
  return options;
}

// Adds the findings of `graphkit analyze`, for colours by finding.
Result<void> AddFindings(const Ran& trace, DotOptions& options) {
  if (options.colour != ColourBy::kFinding) return {};
  const Progress progress("analyzing");
  Result<Report> report = Analyze(trace);
  if (!report) return report.error();
  options.findings = std::move(report->findings);
  return {};
}

Result<void> WriteDrawing(const std::string& dot, const std::string& path) {
  const std::string format = FormatOf(path);
  std::string picture = dot;
  if (format != "dot") {
    Result<std::string> drawn = Draw(dot, format);
    if (!drawn) return drawn.error();
    picture = std::move(*drawn);
  }
  return WriteOutput(path, [&picture](std::ostream& out) { out << picture; });
}

int RunDot(DotArguments arguments) {
  if (arguments.open && arguments.output == "-") arguments.output = "capture.svg";
  const Result<Ran> trace = ReadInput(arguments.trace);
  if (!trace) return PrintError(trace.error());
  if (const auto checked = CheckIds(*trace, arguments); !checked) {
    return PrintError(checked.error());
  }
  if (trace->graphs.empty()) {
    return PrintError(Error{.message = "it holds no graph to draw",
                            .hint = "graphkit report shows its memory",
                            .file = arguments.trace,
                            .kind = Error::Kind::kIncomplete});
  }
  DotOptions options = OptionsOf(*trace, arguments);
  if (const auto added = AddFindings(*trace, options); !added) return PrintError(added.error());
  std::ostringstream dot;
  const DotSummary summary = RenderDot(*trace, options, dot);
  const int exit_code = WarnIncomplete(*trace, arguments.trace);
  if (summary.graphs_left_out > 0) {
    PrintNote(Counted(summary.graphs_left_out, "graph") +
              " with fewer nodes not drawn; --top 0 draws all, --graph ID one");
  }
  if (summary.boxes < summary.nodes) {
    PrintNote(summary.notes.back() + "; --fold none draws them all");
  }
  const Result<void> written = WriteDrawing(dot.str(), arguments.output);
  if (!written) return PrintError(written.error());
  if (!arguments.open) LogWritten(arguments.output);
  if (!arguments.open) return exit_code;
  const Result<void> opened = ShowFile(arguments.output);
  return opened ? exit_code : PrintError(opened.error());
}

struct Focus {
  uint32_t node = 0;
  std::optional<uint32_t> depth = {};
};

// "120", or "120,3" with the number of edges; nothing for other text.
std::optional<Focus> ParseFocus(const std::string& text) {
  Focus focus;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, focus.node);
  if (error != std::errc()) return std::nullopt;
  if (rest != end && *rest == ',') {
    const auto [after, wrong] = std::from_chars(rest + 1, end, focus.depth.emplace());
    if (wrong != std::errc()) return std::nullopt;
    rest = after;
  }
  return rest == end ? std::optional(focus) : std::nullopt;
}

// Options that select what is drawn.
void AddWhat(CLI::App& sub, DotArguments& arguments) {
  sub.add_option("--graph", arguments.graph,
                 "Draw this graph only, with the child graphs and bodies inside it")
      ->option_text("ID");
  AddCount(sub, "--top", arguments.top,
           "Draw this many graphs, those with the most nodes (default: 20); 0: all");
  const auto set_focus = [&arguments](const std::string& text) {
    const auto [node, depth] = *ParseFocus(text);
    arguments.focus = node;
    arguments.options.select.depth = depth.value_or(arguments.options.select.depth);
  };
  sub.add_option_function<std::string>("--focus", set_focus,
                                       "Draw only this node, its predecessors and successors up "
                                       "to N edges away (5)")
      ->option_text("NODE[,N]")
      ->check([](const std::string& text) {
        return ParseFocus(text) ? "" : "invalid node '" + text + "'; write 120, or 120,3";
      });
  AddChoice<Fold>(
      sub, "--fold", arguments.options.fold,
      {{"auto", Fold::kAuto},
       {"none", Fold::kNone},
       {"chains", Fold::kChains},
       {"streams", Fold::kStreams},
       {"nvtx", Fold::kNvtx}},
      "Draw each straight chain, stretch of a stream or NVTX range as one box (default: "
      "auto, only in large graphs)");
}

// Options of the look.
void AddLook(CLI::App& sub, DotArguments& arguments) {
  DotOptions& options = arguments.options;
  AddChoice<ColourBy>(sub, "--color", options.colour,
                      {{"type", ColourBy::kType},
                       {"stream", ColourBy::kStream},
                       {"duration", ColourBy::kDuration},
                       {"pool", ColourBy::kPool},
                       {"finding", ColourBy::kFinding}},
                      "Meaning of the boxes' colours (default: type)");
  AddChoice<RankBy>(sub, "--layout", options.rank,
                    {{"order", RankBy::kOrder}, {"capture", RankBy::kCapture}},
                    "Order from top to bottom: dependencies (the default), or captured calls");
  sub.add_option("--link", options.link,
                 "Link of each box in SVG; {node}, {file} and {line} are filled in")
      ->option_text("URL");
  const auto show = [&arguments](const std::vector<std::string>& words) {
    const auto has = [&words](const char* word) {
      return std::ranges::find(words, word) != words.end();
    };
    arguments.critical_path = has("critical-path");
    arguments.options.details.memory = has("memory");
    arguments.options.details.edges = has("edges");
    arguments.options.details.params = has("params");
  };
  sub.add_option_function<std::vector<std::string>>("--show", show,
                                                    "Also show the blocks that nodes access, ids "
                                                    "of edges, sizes of parameters, or the longest "
                                                    "path, by measured durations or by nodes")
      ->option_text("memory|edges|params|critical-path")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& word) {
        return CheckWord(word, {"memory", "edges", "params", "critical-path"});
      });
}

}  // namespace

void AddDotCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<DotArguments>(
      app, exit_code, RunDot, "dot", "Draw the graphs of a trace",
      {"graphkit dot trace.json -o capture.svg",
       "graphkit dot trace.json --graph 3 --open  # as capture.svg",
       "graphkit dot trace.json --focus 120,3 --show memory,critical-path -o near.svg",
       "graphkit dot trace.json --link 'report.html#node={node}' -o capture.svg",
       "graphkit dot trace.json | dot -Tpdf > capture.pdf"});
  AddTrace(*sub, arguments->trace);
  AddOutput(*sub, arguments->output,
            "Write to FILE; its ending selects the format: dot, svg, png, pdf and others (default: "
            "DOT on "
            "stdout)");
  AddOpen(*sub, arguments->open);
  AddWhat(*sub, *arguments);
  AddLook(*sub, *arguments);
}

}  // namespace graphkit
