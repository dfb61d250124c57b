// `graphkit dot`: the graphs of a trace as a drawing.
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "libgraphkit/render/dot.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/draw.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/input.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/output.h"
#include "tools/graphkit/progress.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

struct DotArguments {
  std::string trace;
  std::string output = "-";
  uint32_t graph = GraphId::kNone;
  Fold fold = Fold::kAuto;
};

// "svg" of "capture.svg"; "dot" for stdout and for what has no ending.
std::string FormatOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (path == "-" || ending.size() < 2 || ending == ".gv") return "dot";
  return ending.substr(1);
}

Result<void> CheckGraph(const Trace& trace, const DotArguments& arguments) {
  if (arguments.graph == GraphId::kNone || arguments.graph < trace.graphs.size()) return {};
  const size_t count = trace.graphs.size();
  return Error{.message = "no graph " + std::to_string(arguments.graph),
               .hint = count == 0   ? "the trace holds none"
                       : count == 1 ? "the trace holds one, graph 0"
                                    : "the graphs are 0 to " + std::to_string(count - 1),
               .file = arguments.trace};
}

Result<void> WriteDrawing(const std::string& dot, const std::string& path) {
  const std::string format = FormatOf(path);
  std::string picture = dot;
  if (format != "dot") {
    const Progress progress("laying out with Graphviz");
    Result<std::string> drawn = Draw(dot, format);
    if (!drawn) return drawn.error();
    picture = std::move(*drawn);
  }
  return WriteOutput(path, [&picture](std::ostream& out) { out << picture; });
}

int RunDot(const DotArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.trace);
  if (!trace) return PrintError(trace.error());
  if (const auto checked = CheckGraph(*trace, arguments); !checked) {
    return PrintError(checked.error());
  }
  std::ostringstream dot;
  const DotOptions options{.graph = GraphId(arguments.graph), .fold = arguments.fold};
  const DotSummary summary = RenderDot(*trace, options, dot);
  const int exit_code = WarnIncomplete(*trace, arguments.trace);
  if (summary.boxes < summary.nodes) {
    PrintNote(summary.notes.back() + "; --fold none draws them all");
  }
  const Result<void> written = WriteDrawing(dot.str(), arguments.output);
  return written ? exit_code : PrintError(written.error());
}

}  // namespace

void AddDotCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("dot", "Draw the graphs of a trace");
  const auto arguments = std::make_shared<DotArguments>();
  AddTrace(*sub, arguments->trace);
  AddOutput(*sub, arguments->output,
            "where to; its ending says what: dot, svg, png, pdf, … (default: DOT on stdout)");
  sub->add_option("--graph", arguments->graph,
                  "draw this graph only, with the child graphs and bodies inside it")
      ->option_text("ID");
  AddChoice<Fold>(*sub, "--fold", arguments->fold,
                  {{"auto", Fold::kAuto},
                   {"none", Fold::kNone},
                   {"chains", Fold::kChains},
                   {"streams", Fold::kStreams}},
                  "draw straight chains, or stretches of streams, as one box each (default: auto, "
                  "only what is too large to read)");
  SetExamples(*sub, {"graphkit dot trace.json -o capture.svg",
                     "graphkit dot trace.json --graph 3 -o decode.png",
                     "graphkit dot trace.json | dot -Tpdf > capture.pdf"});
  sub->callback([&exit_code, arguments] { exit_code = RunDot(*arguments); });
}

}  // namespace graphkit
