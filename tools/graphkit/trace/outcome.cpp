#include "tools/graphkit/trace/outcome.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "libgraphkit/file_mark.h"
#include "libgraphkit/units.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

// The number behind `"key":` in a record; 0 when it isn't there.
uint64_t NumberIn(std::string_view record, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\":";
  const size_t at = record.find(quoted);
  if (at == std::string_view::npos) return 0;
  return std::strtoull(std::string(record.substr(at + quoted.size(), 20)).c_str(), nullptr, 10);
}

void CountRecord(std::string_view line, TraceOutcome& outcome) {
  outcome.complete = line.starts_with("{\"type\":\"end\"");
  if (outcome.complete) {
    outcome.records = NumberIn(line, "records");
    outcome.nodes = NumberIn(line, "nodes");
    outcome.graphs = NumberIn(line, "graphs");
    return;
  }
  ++outcome.records;
  if (line.starts_with("{\"type\":\"node\",")) ++outcome.nodes;
  if (line.starts_with("{\"type\":\"graph\",")) ++outcome.graphs;
  if (line.starts_with("{\"type\":\"dropped\"")) outcome.dropped = NumberIn(line, "records");
}

// The first record of a file of the tracer's. The key's quotes would be escaped in any text.
void ReadProcess(std::string_view record, TraceOutcome& outcome) {
  constexpr std::string_view kRun = "\"run\":\"";
  outcome.pid = static_cast<int64_t>(NumberIn(record, "pid"));
  const size_t run = record.find(kRun);
  if (run == record.npos) return;
  const std::string_view value = record.substr(run + kRun.size());
  outcome.run = value.substr(0, value.find('"'));
}

bool Runs(int64_t pid) {
  return pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// True if the software device can stand in for a CUDA runtime inside of the program.
bool CanBeLed(const ElfFacts& elf) {
#ifdef __x86_64__
  return elf.has_symbols && !elf.is_static;
#else
  return (void)elf, false;
#endif
}

}  // namespace

// Read, not mapped: its process may cut it meanwhile.
std::optional<TraceOutcome> InspectTrace(const std::string& path,
                                         const std::optional<std::string>& run) {
  TraceOutcome outcome{.path = path};
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!std::getline(in, line) || !line.starts_with("{\"schema\":\"graphkit-trace\"")) {
    return std::nullopt;
  }
  outcome.whole_bytes = line.size() + 1;
  while (std::getline(in, line) && !in.eof()) {
    // Of a file that had no room for its process the run isn't known.
    const bool process = line.starts_with("{\"type\":\"process\"");
    if (outcome.records == 0 && process) ReadProcess(line, outcome);
    if (outcome.pid != 0 && run && outcome.run != *run) return std::nullopt;
    CountRecord(line, outcome);
    outcome.whole_bytes += line.size() + 1;
  }
  outcome.writing = !outcome.complete && Runs(outcome.pid);
  return outcome;
}

std::optional<TraceOutcome> InspectOwn(const std::string& path, const std::string& run) {
  const std::optional<TraceOutcome> outcome = InspectTrace(path, run);
  struct stat status {};
  if (!outcome || outcome->writing || stat(path.c_str(), &status) != 0) return outcome;
  if (static_cast<uint64_t>(status.st_size) > outcome->whole_bytes) {
    [[maybe_unused]] const int cut =
        truncate(path.c_str(), static_cast<off_t>(outcome->whole_bytes));
  }
  return outcome;
}

std::string DescribeOutcome(const TraceOutcome& outcome) {
  auto count = [](uint64_t number, const std::string& thing) {
    return FormatCount(number) + " " + thing + (number == 1 ? "" : "s");
  };
  std::string text = count(outcome.records, "record") + ", " + count(outcome.nodes, "node") +
                     " in " + count(outcome.graphs, "graph");
  if (!outcome.complete) text += ", cut off";
  if (outcome.dropped != 0) text += ", " + FormatCount(outcome.dropped) + " dropped";
  return text + " → " + outcome.path;
}

std::vector<FileBeside> FilesBeside(const std::string& trace, const std::string& ending,
                                    int64_t since_ns) {
  std::vector<FileBeside> found;
  const fs::path main(trace);
  const std::string stem =
      (trace.ends_with(".json") ? main.stem() : main.filename()).string() + ".";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(main.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.size() > stem.size() + ending.size() && name.starts_with(stem) &&
                      name.ends_with(ending);
    struct stat status {};
    if (!ours || stat(entry.path().c_str(), &status) != 0) continue;
    const int64_t changed = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    if (changed < since_ns) continue;
    found.push_back({entry.path().string(),
                     name.substr(stem.size(), name.size() - stem.size() - ending.size()),
                     FileMark(status)});
  }
  return found;
}

std::vector<FileBeside> OtherTraces(const std::string& path) {
  std::vector<FileBeside> found = FilesBeside(path, path.ends_with(".json") ? ".json" : "", 0);
  std::erase_if(found, [](const FileBeside& file) {
    return file.middle.find_first_not_of("0123456789.") != std::string::npos;
  });
  std::ranges::sort(found, {}, &FileBeside::path);
  return found;
}

std::string ExplainNoTrace(const NoTraceFacts& facts) {
  const std::string nothing = "nothing was recorded: ";
  const ElfFacts& elf = facts.elf;
  const bool shared = elf.Needs("libcudart.so"), driver = elf.Needs("libcuda.so");
  if (facts.soft && elf.has_device_code && !shared && !CanBeLed(elf)) {
    return nothing + facts.program + " contains the CUDA runtime, and the software device " +
           "can't replace it: " +
           (elf.is_static      ? "the program is fully static"
            : !elf.has_symbols ? "the symbol table is stripped"
                               : "that needs an x86-64 program") +
           "; rebuild it with " +
           (elf.is_static || elf.has_symbols ? "" : "its symbols (no -s, no strip), or with ") +
           "nvcc -cudart shared";
  }
  if (facts.started) {
    return nothing + facts.program + (elf.is_elf ? "" : ", or a program that it started,") +
           " initialised CUDA, but allocated, captured and launched nothing before it ended";
  }
  // The driver loads the tracer by that variable when CUDA is initialised.
  const std::string untold =
      ", or did so after CUDA_INJECTION64_PATH was unset (by clearenv() or env -i, for example)";
  if (!elf.is_elf) {
    return nothing + "no program that " + facts.program +
           " started allocated, captured or launched anything with CUDA" + untold;
  }
  if (!shared && !driver && !elf.has_device_code) {
    return nothing + facts.program +
           " itself uses no CUDA; the libraries and programs that it started allocated, captured "
           "and launched nothing" +
           untold;
  }
  return nothing + facts.program +
         " uses CUDA, but allocated, captured and launched nothing before it ended" + untold;
}

}  // namespace graphkit
