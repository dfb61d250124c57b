#include "tools/graphkit/trace/torch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"
#include "tools/graphkit/trace/outcome.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

std::optional<int64_t> Number(std::string_view text) {
  const auto number = ParseNumber<int64_t>(text);
  return number >= 0 ? number : std::nullopt;
}

// "4242" or "rank3.4242".
std::optional<LeftSnapshot> ReadName(std::string_view middle) {
  LeftSnapshot snapshot;
  constexpr std::string_view kRank = "rank";
  if (middle.starts_with(kRank)) {
    const size_t dot = middle.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto rank = Number(middle.substr(kRank.size(), dot - kRank.size()));
    if (!rank) return std::nullopt;
    snapshot.rank = static_cast<int>(*rank);
    middle.remove_prefix(dot + 1);
  }
  const auto pid = Number(middle);
  if (!pid) return std::nullopt;
  snapshot.pid = *pid;
  return snapshot;
}

std::string Of(const LeftSnapshot& snapshot) {
  return snapshot.rank < 0 ? "" : "rank " + std::to_string(snapshot.rank) + ": ";
}

Result<Merged> ReadAndMerge(const std::string& snapshot, Imported traced,
                            const std::string& trace) {
  const Progress progress("joining " + snapshot + " into " + trace);
  Result<Imported> memory = ImportFile(snapshot);
  if (!memory) return memory.error();
  std::vector<MergeInput> inputs;
  inputs.push_back({trace, std::move(traced)});
  inputs.push_back({snapshot, std::move(*memory)});
  return Merge(std::move(inputs), MergeOf::kOneProcess);
}

void Join(const LeftSnapshot& snapshot, Imported traced, const std::string& trace, bool verbose) {
  const std::vector<std::string> known = traced.trace.completeness.notes;
  const Result<Merged> merged = ReadAndMerge(snapshot.path, std::move(traced), trace);
  const Result<void> written =
      merged ? WriteTrace(merged->trace, trace) : Result<void>(merged.error());
  if (!written) {
    PrintWarning(Of(snapshot) + snapshot.path +
                 " could not be joined into the trace: " + Describe(written.error()));
    return;
  }
  for (const std::string& line : merged->joined) PrintNote(Of(snapshot) + line + " → " + trace);
  for (const NotJoined& left : merged->not_joined) {
    if (verbose) PrintNote(Of(snapshot) + Shown(left));
  }
  for (const std::string& note : merged->trace.completeness.notes) {
    if (std::ranges::find(known, note) != known.end()) continue;
    PrintWarning(Of(snapshot) + trace + " is incomplete: " + note);
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PythonHookEnvironment(const std::string& trace) {
  const std::string folder = PluginFolder() + "/torch_hook";
  if (!fs::exists(folder + "/sitecustomize.py")) {
    PrintWarning("the hook for Python is missing: " + folder);
    return {};
  }
  const char* others = std::getenv("PYTHONPATH");
  const std::string behind = others != nullptr && *others != '\0' ? std::string(":") + others : "";
  return {{"PYTHONPATH", folder + behind}, {"GRAPHKIT_TORCH_OUT", trace}};
}

std::vector<LeftSnapshot> LeftSnapshots(const std::string& trace, int64_t since_ns) {
  std::vector<LeftSnapshot> found;
  for (const FileBeside& file : FilesBeside(trace, ".pickle", since_ns)) {
    auto snapshot = ReadName(file.middle);
    if (!snapshot) continue;
    snapshot->path = file.path;
    found.push_back(std::move(*snapshot));
  }
  std::ranges::sort(found, {}, &LeftSnapshot::pid);
  return found;
}

void JoinSnapshots(const std::vector<std::string>& traces,
                   const std::vector<LeftSnapshot>& snapshots, bool verbose) {
  std::vector<const LeftSnapshot*> left;
  for (const LeftSnapshot& snapshot : snapshots) left.push_back(&snapshot);
  for (const std::string& trace : traces) {
    if (left.empty()) return;
    Result<Imported> traced = ImportFile(trace);
    if (!traced) continue;
    const int64_t pid = traced->trace.process.pid;
    const auto of_process =
        std::ranges::find(left, pid, [](const LeftSnapshot* snapshot) { return snapshot->pid; });
    if (of_process == left.end()) continue;
    Join(**of_process, std::move(*traced), trace, verbose);
    left.erase(of_process);
  }
  for (const LeftSnapshot* snapshot : left) {
    PrintNote(Of(*snapshot) + snapshot->path + " has no matching trace; try graphkit " +
              snapshot->path);
  }
}

}  // namespace graphkit
