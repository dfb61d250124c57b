#include "tools/graphkit/trace/outcome.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "libgraphkit/io/bytes/file_bytes.h"
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

void CountRecords(std::string_view lines, TraceOutcome& outcome) {
  for (size_t begin = lines.find('\n'); begin != std::string_view::npos;) {
    const size_t end = lines.find('\n', begin + 1);
    if (end == std::string_view::npos) return;
    const std::string_view line = lines.substr(begin + 1, end - begin - 1);
    ++outcome.records;
    if (line.starts_with("{\"type\":\"node\",")) ++outcome.nodes;
    if (line.starts_with("{\"type\":\"graph\",")) ++outcome.graphs;
    begin = end;
  }
}

bool StillRuns(std::string_view first_records) {
  const auto pid = static_cast<pid_t>(NumberIn(first_records.substr(0, 4096), "pid"));
  return pid > 0 && kill(pid, 0) == 0;
}

// Whether the software device can stand in for a CUDA runtime inside of the program.
bool CanBeLed(const ElfFacts& elf) {
#ifdef __x86_64__
  return elf.has_symbols && !elf.is_static;
#else
  return (void)elf, false;
#endif
}

}  // namespace

std::optional<TraceOutcome> InspectTrace(const std::string& path) {
  TraceOutcome outcome{.path = path};
  size_t whole = 0, size = 0;
  bool writing = false;
  {
    const Result<MappedFile> file = MappedFile::Open(path);
    const std::string_view text = file ? file->bytes() : std::string_view();
    if (!text.starts_with("{\"schema\":\"graphkit-trace\"")) return std::nullopt;
    size = text.size();
    whole = text.rfind('\n') + 1;
    const std::string_view lines = text.substr(0, whole);
    const size_t last = lines.rfind('\n', lines.size() - 2) + 1;
    if (lines.substr(last).starts_with("{\"type\":\"end\"")) {
      const std::string_view end = lines.substr(last);
      const size_t before = last >= 2 ? lines.rfind('\n', last - 2) + 1 : 0;
      outcome.complete = true;
      outcome.records = NumberIn(end, "records");
      outcome.nodes = NumberIn(end, "nodes");
      outcome.graphs = NumberIn(end, "graphs");
      const std::string_view previous = lines.substr(before, last - before);
      if (previous.starts_with("{\"type\":\"dropped\"")) {
        outcome.dropped = NumberIn(previous, "records");
      }
      return outcome;
    }
    CountRecords(lines, outcome);
    writing = StillRuns(lines);
  }
  if (!writing && whole < size) {
    [[maybe_unused]] const int cut = truncate(path.c_str(), static_cast<off_t>(whole));
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
    if (status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec < since_ns) continue;
    found.push_back({entry.path().string(),
                     name.substr(stem.size(), name.size() - stem.size() - ending.size())});
  }
  return found;
}

std::vector<std::string> OtherTraces(const std::string& path, int64_t since_ns) {
  std::vector<std::string> found;
  for (const FileBeside& file :
       FilesBeside(path, path.ends_with(".json") ? ".json" : "", since_ns)) {
    const bool numbers = file.middle.find_first_not_of("0123456789.") == std::string::npos;
    if (numbers) found.push_back(file.path);
  }
  std::ranges::sort(found);
  return found;
}

std::string ExplainNoTrace(const NoTraceFacts& facts) {
  const std::string nothing = "nothing was recorded: ";
  const ElfFacts& elf = facts.elf;
  const bool shared = elf.Needs("libcudart.so"), driver = elf.Needs("libcuda.so");
  if (facts.soft && elf.has_device_code && !shared && !CanBeLed(elf)) {
    return nothing + facts.program + " has the CUDA runtime inside and " +
           (elf.is_static      ? "is linked statically as a whole"
            : !elf.has_symbols ? "its symbol table is stripped"
                               : "this processor's code can't be led") +
           ", so the software device can't take its place; " +
           (elf.is_static || elf.has_symbols ? "" : "keep the symbols (no -s, no strip), or ") +
           "rebuild it with: nvcc -cudart shared";
  }
  if (facts.started) {
    return nothing + facts.program + (elf.is_elf ? "" : ", or a program that it started,") +
           " initialised CUDA, but allocated, captured and launched nothing before it ended";
  }
  if (!elf.is_elf) {
    return nothing + "no program that " + facts.program +
           " started allocated, captured or launched anything with CUDA";
  }
  if (!shared && !driver && !elf.has_device_code) {
    return nothing + facts.program +
           " itself uses no CUDA; what it opened or started allocated, captured and launched "
           "nothing";
  }
  return nothing + facts.program +
         " uses CUDA, but allocated, captured and launched nothing before it ended";
}

}  // namespace graphkit
