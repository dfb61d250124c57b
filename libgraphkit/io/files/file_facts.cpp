#include "libgraphkit/io/files/file_facts.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "libgraphkit/io/files/plan_files.h"

namespace graphkit {
namespace {

// The most bytes that live at once: no plan needs less.
Bytes MostAlive(const LifetimeProblem& problem) {
  std::map<int64_t, Bytes> changes;  // below zero: wrapped, as unsigned numbers do
  for (size_t i = 0; i < problem.blocks.size(); ++i) {
    changes[problem.lifetimes[i].begin] += problem.blocks[i].size;
    changes[problem.lifetimes[i].end] -= problem.blocks[i].size;
  }
  Bytes alive = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, alive += change);
  return most;
}

bool MayBeTrace(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".json.zst");
}

// A folder is read as the traces in it.
FileAbout AboutFolder(const std::string& path) {
  std::error_code failed;
  uint64_t files = 0, traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (!entry.is_regular_file(failed)) continue;
    ++files;
    traces += MayBeTrace(entry.path().filename().string()) ? 1 : 0;
  }
  FileAbout about{.kind = "folder", .what = "folder", .facts = {Counted(files, "file")}};
  if (traces == 0) {
    about.facts.emplace_back("no traces in this folder");
  } else {
    about.next = {{"graphkit analyze FILE", "the traces in it, together"},
                  {"graphkit report FILE -o report.html", "the same as a page"}};
  }
  return about;
}

}  // namespace

std::string_view SchemaOf(std::string_view head) {
  constexpr std::string_view kKey = "\"schema\"";
  if (!head.starts_with('{')) return {};
  const size_t key = head.find(kKey);
  const size_t begin = key == head.npos ? key : head.find('"', key + kKey.size());
  if (begin == head.npos) return {};
  const std::string_view name = head.substr(begin + 1, head.find('"', begin + 1) - begin - 1);
  return name.starts_with("graphkit-") ? name.substr(sizeof "graphkit-" - 1) : std::string_view();
}

std::vector<std::string> FactsOfJson(std::string_view bytes) {
  std::vector<std::string> facts;
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, false);
  if (!json.is_object()) return {"damaged: not valid JSON"};
  for (const auto& [name, value] : json.items()) {
    if (!value.is_array()) continue;
    const bool one = value.size() == 1 && name.ends_with('s');
    facts.push_back(FormatCount(value.size()) + " " + name.substr(0, name.size() - one));
  }
  for (const auto& [key, text] :
       {std::pair{"peak_bytes", "peak "}, {"lower_bound_bytes", "lower bound "}}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned()) continue;
    facts.push_back(text + FormatBytes(found->get<Bytes>()));
  }
  return facts;
}

std::vector<std::string> FactsOfSarif(std::string_view bytes) {
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, false);
  if (!json.is_object() || !json.contains("runs")) return {"damaged: not valid SARIF"};
  uint64_t results = 0;
  for (const nlohmann::json& run : json["runs"]) {
    if (run.is_object() && run.contains("results")) results += run["results"].size();
  }
  return {Counted(results, "result")};
}

std::vector<std::string> FactsOfTable(std::string_view bytes) {
  const Result<LifetimeTable> table = ParseLifetimeCsv(bytes);
  if (!table) return {"damaged: " + Describe(table.error())};
  return {Counted(table->problem.blocks.size(), "block"),
          FormatBytes(MostAlive(table->problem)) + " alive at the peak"};
}

std::optional<FileAbout> DescribeFolder(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return std::nullopt;
  return AboutFolder(path);
}

}  // namespace graphkit
