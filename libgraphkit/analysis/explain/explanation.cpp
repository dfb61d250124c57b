#include "libgraphkit/analysis/explain/explanation.h"

#include <algorithm>
#include <utility>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

std::string StacksText(const Ran& trace) {
  bool python = false, native = false;
  for (const StackFrame& frame : trace.stack_frames)
    (IsPythonFile(trace[frame.file]) ? python : native) = true;
  if (python && native) return "native and Python stacks";
  if (python || native) return python ? "Python stacks" : "native stacks";
  return "no stacks";
}

// Of the private pools. One of (0, n) is a torch.cuda.MemPool's or of graph_pool_handle(): the file
// doesn't tell them apart.
void AddPools(const Ran& trace, std::vector<std::string>& facts) {
  const auto either =
      static_cast<size_t>(std::ranges::count_if(trace.graphs, [&](const Graph& pool) {
        return trace[pool.name].starts_with("private pool (0,");
      }));
  if (const size_t own = trace.graphs.size() - either; own > 0) {
    facts.push_back(Counted(own, "CUDA graph") + " (of private pools)");
  }
  if (either > 0) {
    facts.push_back(Counted(either, "private pool") + " (MemPool, or shared by CUDA graphs)");
  }
  if (trace.graphs.empty()) facts.emplace_back("no CUDA graphs");
}

std::vector<std::string> SnapshotFacts(const Ran& trace, const MemoryHistory& history) {
  const uint64_t events = CountHistoryEvents(trace);
  const size_t failures = trace.failures.size();
  std::vector<std::string> facts = {
      Counted(history.devices, "device"), events == 0 ? "no history" : Counted(events, "event"),
      StacksText(trace), failures == 0 ? "no OOM event" : Counted(failures, "OOM event")};
  AddPools(trace, facts);
  return facts;
}

std::vector<std::string> TraceFacts(const Ran& trace) {
  std::vector<std::string> facts = {DeviceTitle(trace.process.device, trace.process.device_name),
                                    Counted(trace.graphs.size(), "graph"),
                                    Counted(trace.nodes.size(), "node"),
                                    Counted(trace.launches.size(), "launch")};
  AddMissingEdgeData(trace.process, facts);
  return facts;
}

std::vector<std::string> FactsOf(const Ran& trace) {
  if (const MemoryHistory* history = HistoryOf(trace)) return SnapshotFacts(trace, *history);
  if (trace.imported_from.empty()) return TraceFacts(trace);
  return {std::string(trace[trace.imported_from.front().summary])};
}

// FILE in a command is the file that is explained, SOURCE the file that it was imported from.
constexpr std::string_view kFile = "FILE";
constexpr std::string_view kSource = "SOURCE";

// Where it stands first.
void Replace(std::string_view old, std::string_view now, std::string* text) {
  if (const size_t at = text->find(old); at != text->npos) text->replace(at, old.size(), now);
}

NextCommand Named(NextCommand next, const std::string& file, const std::string& source) {
  Replace(kFile, ShellWord(file), &next.command);
  Replace(kSource, ShellWord(source), &next.command);
  return next;
}

std::string SourceOf(const Ran& trace, const std::string& file) {
  if (trace.imported_from.empty()) return file;
  return std::string(trace[trace.imported_from.front().file]);
}

// A command is offered only where the trace has the data that it shows.
bool Works(const std::string& command, const Ran& trace, const std::string& source) {
  const auto has = [&](std::string_view word) { return command.find(word) != command.npos; };
  if (has(kSource) && source == "-") return false;
  if (has(" dot ") || has(" check ")) return !trace.nodes.empty();
  if (has(" --at ") || has(" --setting ")) return !trace.history_events.empty();
  return !has(" --by ") || !trace.blocks.empty();
}

// Without stacks memory is listed by pool.
void ListByPool(NextCommand* next) {
  for (auto* text : {&next->command, &next->shows}) {
    Replace(" --by stack", " --by pool", text);
    Replace("memory by line of code", "memory by pool", text);
  }
}

std::vector<NextCommand> NextOf(const std::vector<NextCommand>& all, const std::string& file,
                                const Ran& trace) {
  const std::string source = SourceOf(trace, file);
  std::vector<NextCommand> next;
  for (NextCommand command : all) {
    if (!Works(command.command, trace, source)) continue;
    if (trace.stacks.empty()) ListByPool(&command);
    next.push_back(Named(std::move(command), file, source));
  }
  return next;
}

}  // namespace

Explanation Explain(const std::string& file, FileAbout about) {
  for (NextCommand& next : about.next) next = Named(std::move(next), file, file);
  return {.file = file, .about = std::move(about)};
}

Explanation Explain(const std::string& file, FileAbout about, const Ran& trace,
                    std::vector<MemoryAccount> memory, const Report* report) {
  about.facts = FactsOf(trace);
  about.next = NextOf(about.next, file, trace);
  Explanation explanation{.file = file, .about = std::move(about)};
  explanation.unknown_memory = trace.process.unknown_memory;
  if (explanation.unknown_memory.empty()) explanation.memory = std::move(memory);
  explanation.report = report;
  if (report != nullptr) explanation.unknown_memory = report->unknown_memory;
  return explanation;
}

}  // namespace graphkit
