#include "libgraphkit/io/files/file_about.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/files/plan_files.h"

namespace graphkit {
namespace {

constexpr size_t kHead = 4096;

// One row a kind: how it is known, and what is done with it. FILE stands for the file.
struct Row {
  const char* kind;
  bool (*is)(std::string_view head);
  const char* what;
  std::array<NextCommand, 2> next;
};

bool Has(std::string_view head, std::string_view text) { return head.find(text) != head.npos; }

// The name that a file of graphkit begins with: "graphkit-plan"; empty: it is none.
std::string_view SchemaOf(std::string_view head) {
  constexpr std::string_view kKey = "\"schema\"";
  if (!head.starts_with('{')) return {};
  const size_t key = head.find(kKey);
  const size_t begin = key == head.npos ? key : head.find('"', key + kKey.size());
  if (begin == head.npos) return {};
  const std::string_view name = head.substr(begin + 1, head.find('"', begin + 1) - begin - 1);
  return name.starts_with("graphkit-") ? name.substr(sizeof "graphkit-" - 1) : std::string_view();
}

bool IsLifetimes(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return Has(line, "lower") && Has(line, "upper") && Has(line, "size") && Has(line, ",");
}
bool IsHtml(std::string_view head) {
  return head.starts_with("<!doctype html") || head.starts_with("<!DOCTYPE html") ||
         head.starts_with("<html");
}
bool IsXml(std::string_view head) { return head.starts_with("<?xml") || head.starts_with('<'); }

const std::vector<Row>& KnownFiles() {
  static const std::vector<Row> kRows = {
      {"plan",
       [](std::string_view head) { return SchemaOf(head) == "plan"; },
       "memory plan of graphkit plan",
       {{{"graphkit replay trace.json --allocator FILE --verify", "check it against its trace"},
         {"GRAPHKIT_PLAN=FILE python train.py", "let the allocator place blocks so"}}}},
      {"baseline",
       [](std::string_view head) { return SchemaOf(head) == "baseline"; },
       "baseline of graphkit check",
       {{{"graphkit check trace.json --baseline FILE", "fail when a run needs more"}}}},
      {"config",
       [](std::string_view head) { return SchemaOf(head) == "config"; },
       "settings of graphkit check",
       {{{"graphkit check trace.json --config FILE", "judge a trace by them"}}}},
      {"suppressions",
       [](std::string_view head) { return SchemaOf(head) == "suppressions"; },
       "accepted findings of graphkit check",
       {{{"graphkit check trace.json --suppressions FILE", "judge a trace without them"}}}},
      {"layers",
       [](std::string_view head) { return SchemaOf(head) == "layers"; },
       "layers of a pipeline",
       {{{"graphkit pipeline --layers FILE", "the buffers of a schedule"}}}},
      {"result",
       [](std::string_view head) { return !SchemaOf(head).empty() && SchemaOf(head) != "trace"; },
       "result of graphkit",
       {{{"jq . FILE", "its values"}}}},
      {"json-schema",
       [](std::string_view head) { return head.starts_with('{') && Has(head, "json-schema.org"); },
       "JSON Schema",
       {}},
      {"sarif",
       [](std::string_view head) {
         return head.starts_with('{') && Has(head, "\"runs\"") && Has(head, "sarif");
       },
       "findings as SARIF",
       {{{"jq '.runs[].results[].message.text' FILE", "its findings"}}}},
      {"lifetimes",
       IsLifetimes,
       "table of lifetimes",
       {{{"graphkit plan FILE -o plan.json", "place its blocks in little memory"},
         {"graphkit plan FILE --capacity 16GiB", "whether they fit"}}}},
      {"html",
       IsHtml,
       "HTML page, such as graphkit report writes",
       {{{"xdg-open FILE", "look at it"}}}},
      {"svg",
       [](std::string_view head) { return IsXml(head) && Has(head, "<svg"); },
       "drawing (SVG), such as graphkit dot writes",
       {{{"xdg-open FILE", "look at it"}}}},
      {"junit",
       [](std::string_view head) { return IsXml(head) && Has(head, "<testsuite"); },
       "JUnit XML, such as graphkit check writes",
       {{{"graphkit check trace.json --format junit -o FILE", "made anew"}}}},
  };
  return kRows;
}

std::string Number(uint64_t count, std::string noun) {
  if (count == 1 && noun.ends_with('s')) noun.pop_back();
  return FormatCount(count) + " " + noun;
}

// "335 placements", "peak 40 MiB": lists by their lengths, and the figures of a plan.
std::vector<std::string> FactsOfJson(std::string_view bytes) {
  std::vector<std::string> facts;
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, false);
  if (!json.is_object()) return {"damaged: not valid JSON"};
  for (const auto& [name, value] : json.items()) {
    if (value.is_array()) facts.push_back(Number(value.size(), name));
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
  return {Number(results, "results")};
}

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

std::vector<std::string> FactsOfTable(std::string_view bytes) {
  const Result<LifetimeTable> table = ParseLifetimeCsv(bytes);
  if (!table) return {"damaged: " + Describe(table.error())};
  return {Number(table->problem.blocks.size(), "blocks"),
          FormatBytes(MostAlive(table->problem)) + " alive at the peak"};
}

const NextCommand kFolderAnalyze = {"graphkit analyze FILE", "the traces in it, together"};
const NextCommand kFolderReport = {"graphkit report FILE -o report.html", "the same as a page"};

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
  FileAbout about{.kind = "folder", .what = "folder", .facts = {Number(files, "files")}};
  if (traces == 0) {
    about.facts.emplace_back("no traces in this folder");
  } else {
    about.next = {CommandFor(kFolderAnalyze, path), CommandFor(kFolderReport, path)};
  }
  return about;
}

mode_t KindOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

}  // namespace

std::optional<FileAbout> DescribeBytes(const std::string& path, std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kHead);
  const auto row =
      std::ranges::find_if(KnownFiles(), [&](const Row& known) { return known.is(head); });
  if (row == KnownFiles().end()) return std::nullopt;
  FileAbout about{.kind = row->kind, .what = row->what};
  if (about.kind == "result") {
    about.what += " " + std::string(SchemaOf(head)) + " --format json";
  }
  if (about.kind == "lifetimes") about.facts = FactsOfTable(bytes);
  if (about.kind == "sarif") {
    about.facts = FactsOfSarif(bytes);
  } else if (head.starts_with('{') && about.kind != "json-schema") {
    about.facts = FactsOfJson(bytes);
  }
  for (const NextCommand& next : row->next) {
    if (!next.command.empty()) about.next.push_back(CommandFor(next, path));
  }
  return about;
}

std::optional<FileAbout> DescribeFolder(const std::string& path) {
  return KindOf(path) == S_IFDIR ? std::optional(AboutFolder(path)) : std::nullopt;
}

std::optional<FileAbout> DescribeSource(std::unique_ptr<ByteSource>& source,
                                        const std::string& path) {
  const Result<std::string> head = Peek(source, kHead);
  if (!head || !DescribeBytes(path, *head)) return std::nullopt;
  const Result<std::string> all = ReadAll(*source);
  return DescribeBytes(path, all ? *all : *head);
}

std::optional<FileAbout> DescribeFile(const std::string& path) {
  if (std::optional<FileAbout> folder = DescribeFolder(path)) return folder;
  if (KindOf(path) != S_IFREG) return std::nullopt;
  Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  return source ? DescribeSource(*source, path) : std::nullopt;
}

}  // namespace graphkit
