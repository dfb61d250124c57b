#include "libgraphkit/analysis/explain/explanation.h"

#include <algorithm>
#include <array>

#include "libgraphkit/analysis/names/stack_name.h"
#include "libgraphkit/analysis/names/titles.h"

namespace graphkit {
namespace {

std::string StacksText(const Trace& trace) {
  bool python = false, native = false;
  for (const StackFrame& frame : trace.stack_frames) {
    (IsPythonFile(trace[frame.file]) ? python : native) = true;
  }
  if (python && native) return "native and Python stacks";
  if (python || native) return python ? "Python stacks" : "native stacks";
  return "no stacks";
}

std::vector<std::string> SnapshotFacts(const Trace& trace, const SnapshotInfo& info) {
  const uint64_t events = info.event_count();
  const size_t failures = info.out_of_memory.size();
  return {Counted(info.devices, "device"), events == 0 ? "no history" : Counted(events, "event"),
          StacksText(trace), failures == 0 ? "no OOM event" : Counted(failures, "OOM event"),
          trace.graphs.empty()
              ? "no CUDA graphs"
              : Counted(trace.graphs.size(), "CUDA graph") + " (of private pools)"};
}

std::vector<std::string> TraceFacts(const Trace& trace) {
  const std::string launches =
      trace.launches.size() == 1 ? "1 launch" : FormatCount(trace.launches.size()) + " launches";
  std::vector<std::string> facts = {DeviceTitle(trace.process),
                                    Counted(trace.graphs.size(), "graph"),
                                    Counted(trace.nodes.size(), "node"), launches};
  AddMissingEdgeData(trace.process, facts);
  return facts;
}

constexpr const char* kByLine = "memory by line of code";

// A format in words, and the commands that go on from it. FILE stands for the file.
struct FormatRow {
  const char* format;
  const char* what;
  std::array<NextCommand, 4> next;
};

const std::array<FormatRow, 8>& KnownFormats() {
  static const NextCommand kReport = {"graphkit report FILE --open", "the timeline as a page"};
  static const NextCommand kDot = {"graphkit dot FILE -o graph.svg", "the graphs drawn"};
  static const NextCommand kMerge = {"graphkit merge trace.json FILE -o merged.json",
                                     "joined with a trace of the same run"};
  static const NextCommand kStack = {"graphkit analyze FILE --by stack", kByLine};
  static const NextCommand kPeak = {"graphkit analyze FILE --at peak --by stack",
                                    "the holders of the peak; also --at end, --at EVENT"};
  static const NextCommand kWhatIf = {"graphkit what-if FILE expandable_segments",
                                      "the effect of a setting"};
  static const NextCommand kDiff = {"graphkit FILE after.pickle",
                                    "the difference from another run"};
  static const std::array<FormatRow, 8> kRows = {{
      {"",
       "CUDA graph trace",
       {{{"graphkit analyze FILE", "each finding with its evidence"},
         kReport,
         kDot,
         {"graphkit check FILE", "the same as a gate in CI"}}}},
      {"torch-snapshot", "PyTorch memory snapshot", {{kReport, kPeak, kWhatIf, kDiff}}},
      {"torch-graph", "PyTorch graph data", {{kDot, kMerge}}},
      {"torch-nodes", "PyTorch's launch stacks or annotations of graph nodes", {{kMerge}}},
      {"dot", "drawing of CUDA graphs (cudaGraphDebugDotPrint)", {{kDot, kMerge}}},
      {"rmm", "log of RMM's allocations", {{kReport, kStack}}},
      {"kineto", "PyTorch profile (Chrome trace)", {{kMerge}}},
      {"nsys", "Nsight Systems export (SQLite)", {{kMerge}}},
  }};
  return kRows;
}

// The file has the content that the command shows.
bool Works(const std::string& command, const Trace& trace, const SnapshotInfo* info) {
  const auto has = [&](std::string_view word) { return command.find(word) != std::string::npos; };
  if (has(" dot ") || has(" check ")) return !trace.nodes.empty();
  if (has(" --at ") || has(" what-if ")) return info != nullptr && info->event_count() > 0;
  return !has(" --by ") || !trace.blocks.empty();
}

// Without stacks memory is listed by pool.
std::vector<NextCommand> NextOf(const FormatRow& row, const std::string& file, const Trace& trace,
                                const SnapshotInfo* info) {
  constexpr std::string_view kByStack = " --by stack";
  std::vector<NextCommand> next;
  for (NextCommand command : row.next) {
    if (command.command.empty() || !Works(command.command, trace, info)) continue;
    const size_t by = command.command.find(kByStack);
    if (by != std::string::npos && trace.stacks.empty()) {
      command.command.replace(by, kByStack.size(), " --by pool");
      if (command.shows == kByLine) command.shows = "memory by pool";
    }
    next.push_back(CommandFor(command, file));
  }
  return next;
}

}  // namespace

Explanation Explain(const ExplainInput& input, const Trace& trace) {
  Explanation explanation{.file = input.file};
  const FormatRow& row =
      *std::ranges::find(KnownFormats(), input.format,
                         [](const FormatRow& known) { return std::string(known.format); });
  explanation.about = {.kind = input.format.empty() ? "trace" : input.format,
                       .what = row.what,
                       .next = NextOf(row, input.file, trace, input.snapshot)};
  const SnapshotInfo* info = input.snapshot;
  explanation.about.facts = info != nullptr         ? SnapshotFacts(trace, *info)
                            : input.summary.empty() ? TraceFacts(trace)
                                                    : input.summary;
  explanation.unknown_memory = trace.process.unknown_memory;
  if (explanation.unknown_memory.empty()) explanation.memory = input.memory;
  if (input.report == nullptr) return explanation;
  explanation.findings = GroupFindings(input.report->findings);
  explanation.graphs = input.report->graphs;
  explanation.unknown_memory = input.report->unknown_memory;
  return explanation;
}

}  // namespace graphkit
