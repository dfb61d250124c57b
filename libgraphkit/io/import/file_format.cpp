#include "libgraphkit/io/import/file_format.h"

#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/io/trace/bad_memory.h"
#include "libgraphkit/io/trace/trace_reader.h"

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

bool Has(std::string_view head, std::string_view text) {
  constexpr size_t kBeginning = 4096;
  return head.substr(0, kBeginning).find(text) != head.npos;
}
// The schema of a file of graphkit without "graphkit-": "plan"; empty: it isn't one.
std::string_view SchemaOf(std::string_view head) {
  constexpr std::string_view kKey = "\"schema\"";
  if (!head.starts_with('{')) return {};
  const size_t key = head.find(kKey);
  const size_t begin = key == head.npos ? key : head.find('"', key + kKey.size());
  if (begin == head.npos) return {};
  const std::string_view name = head.substr(begin + 1, head.find('"', begin + 1) - begin - 1);
  return name.starts_with("graphkit-") ? name.substr(sizeof "graphkit-" - 1) : std::string_view();
}

bool IsTrace(std::string_view head) { return head.starts_with(R"({"schema":"graphkit-trace")"); }
bool IsResult(std::string_view head) {
  const std::string_view schema = SchemaOf(head);
  return !schema.empty() && schema != "trace";
}
bool IsJsonSchema(std::string_view head) {
  return head.starts_with('{') && Has(head, "json-schema.org");
}
bool IsSarif(std::string_view head) {
  return head.starts_with('{') && Has(head, "\"runs\"") && Has(head, "sarif");
}
bool IsLifetimes(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return Has(line, "lower") && Has(line, "upper") && Has(line, "size") && Has(line, ",");
}
bool IsHtml(std::string_view head) {
  return head.starts_with("<!doctype html") || head.starts_with("<!DOCTYPE html") ||
         head.starts_with("<html");
}
bool IsSvg(std::string_view head) { return head.starts_with('<') && Has(head, "<svg"); }
bool IsJUnit(std::string_view head) { return head.starts_with('<') && Has(head, "<testsuite"); }

// The lengths of the lists, and the figures of a plan: "335 placements", "peak 40 MiB".
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

// Numbers that no machine has aren't from a tool.
template <Result<Imported> (*Read)(std::string_view)>
Result<Imported> Checked(std::string_view bytes) {
  Result<Imported> imported = Read(bytes);
  if (!imported) return imported;
  if (const std::optional<BadMemory> bad = FindBadMemory(imported->trace)) {
    return Error{.message = "impossible sizes or addresses: " + bad->message,
                 .hint = "the file is damaged"};
  }
  return imported;
}

using Next = FileFormat::Next;
constexpr Next kReport = {"graphkit report FILE --open", "the timeline as a page"};
constexpr Next kDot = {"graphkit dot FILE -o graph.svg", "the graphs drawn"};
constexpr Next kMerge = {"graphkit import trace.json SOURCE -o merged.json",
                         "joined with a trace of the same run"};
constexpr Next kLook = {"xdg-open FILE", "look at it"};

// Of formats that fit, the first counts. A row without `is` is a file of graphkit whose schema is
// "graphkit-" and the name.
constexpr FileFormat kFormats[] = {
    {.name = "trace",
     .title = "CUDA graph trace",
     .is = IsTrace,
     .next = {{{"graphkit analyze FILE", "each finding with its evidence"},
               kReport,
               kDot,
               {"graphkit check FILE", "the same as a gate in CI"}}}},
    {.name = "plan",
     .title = "memory plan of graphkit plan",
     .facts = FactsOfJson,
     .next = {{{"graphkit replay trace.json --allocator FILE --verify",
                "check it against its trace"},
               {"GRAPHKIT_PLAN=FILE python train.py", "let the allocator place blocks so"}}}},
    {.name = "baseline",
     .title = "baseline of graphkit check",
     .facts = FactsOfJson,
     .next = {{{"graphkit check trace.json --baseline FILE", "fail when a run needs more"}}}},
    {.name = "config",
     .title = "settings of graphkit check",
     .facts = FactsOfJson,
     .next = {{{"graphkit check trace.json --config FILE", "judge a trace by them"}}}},
    {.name = "suppressions",
     .title = "accepted findings of graphkit check",
     .facts = FactsOfJson,
     .next = {{{"graphkit check trace.json --suppressions FILE", "judge a trace without them"}}}},
    {.name = "result",
     .title = "result of graphkit",
     .is = IsResult,
     .facts = FactsOfJson,
     .next = {{{"jq . FILE", "its values"}}}},
    {.name = "json-schema", .title = "JSON Schema", .is = IsJsonSchema},
    {.name = "sarif",
     .title = "findings as SARIF",
     .is = IsSarif,
     .facts = FactsOfSarif,
     .next = {{{"jq '.runs[].results[].message.text' FILE", "its findings"}}}},
    {.name = "lifetimes",
     .title = "table of lifetimes",
     .is = IsLifetimes,
     .facts = FactsOfTable,
     .next = {{{"graphkit plan FILE -o plan.json", "place its blocks in little memory"},
               {"graphkit plan FILE --capacity 16GiB", "whether they fit"}}}},
    {.name = "html",
     .title = "HTML page, such as graphkit report writes",
     .is = IsHtml,
     .next = {kLook}},
    {.name = "svg",
     .title = "drawing (SVG), such as graphkit dot writes",
     .is = IsSvg,
     .next = {kLook}},
    {.name = "junit",
     .title = "JUnit XML, such as graphkit check writes",
     .is = IsJUnit,
     .next = {{{"graphkit check trace.json --format junit -o FILE", "made anew"}}}},
    {.name = "torch-snapshot",
     .title = "PyTorch memory snapshot",
     .is = IsTorchSnapshot,
     .written_by = "what torch.cuda.memory._dump_snapshot wrote",
     .read = Checked<ReadTorchSnapshotTrace>,
     .next = {{kReport,
               {"graphkit analyze FILE --at peak --by stack",
                "the holders of the peak; also --at end, --at EVENT"},
               {"graphkit replay SOURCE --setting expandable_segments", "the effect of a setting"},
               {"graphkit FILE after.pickle", "the difference from another run"}}}},
    {.name = "torch-graph",
     .title = "PyTorch graph data",
     .is = IsTorchGraph,
     .written_by = "what torch.cuda.export_graph_data wrote",
     .read = Checked<ReadTorchGraph>,
     .next = {kDot, kMerge}},
    {.name = "torch-nodes",
     .title = "PyTorch's launch stacks or annotations of graph nodes",
     .is = IsTorchNodes,
     .written_by = "launch stacks or annotations of torch.cuda.graph_annotations",
     .read = Checked<ReadTorchNodes>,
     .next = {kMerge}},
    {.name = "dot",
     .title = "drawing of CUDA graphs (cudaGraphDebugDotPrint)",
     .is = IsDot,
     .written_by = "what cudaGraphDebugDotPrint wrote",
     .read = Checked<ReadDot>,
     .next = {kDot, kMerge}},
    {.name = "rmm",
     .title = "log of RMM's allocations",
     .is = IsRmmLog,
     .written_by = "the log of RMM's logging resource adaptor",
     .read = Checked<ReadRmmLog>,
     .next = {{kReport, {"graphkit analyze FILE --by stack", "memory by line of code"}}}},
    {.name = "kineto",
     .title = "PyTorch profile (Chrome trace)",
     .is = IsKineto,
     .written_by = "a Chrome trace of PyTorch's profiler",
     .read = Checked<ReadKineto>,
     .next = {kMerge}},
    {.name = "nsys",
     .title = "Nsight Systems export (SQLite)",
     .is = IsNsys,
     .written_by = "a SQLite export of Nsight Systems",
     .read = Checked<ReadNsys>,
     .next = {kMerge}},
};

std::string NamesOfImports() {
  std::string names;
  for (const FileFormat& format : kFormats) {
    if (format.read) names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

Error NotKnown(const OpenedFile& file) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  const std::string_view first = std::string_view(file.head).substr(0, file.head.find('\n'));
  const bool script = first.starts_with("#!");
  if (file.path.ends_with(".py") || (script && first.find("python") != first.npos)) {
    return {.message = "this is a Python script", .hint = "try graphkit trace python " + file.path};
  }
  if (first.starts_with(kElf) || script) {
    const bool named = file.path.find('/') != std::string::npos;
    return {.message = "this is a program",
            .hint = "try graphkit trace " + (named ? file.path : "./" + file.path)};
  }
  return {.message = "unrecognized format",
          .hint = "graphkit reads its own traces, and of other tools " + NamesOfImports()};
}

Error Named(Error error, const std::string& path) {
  if (error.file.empty()) error.file = path == "-" ? "stdin" : path;
  return error;
}

Result<Imported> ReadOwnTrace(OpenedFile& file) {
  Result<Trace> trace = ReadTrace(*file.source, file.path == "-" ? "stdin" : file.path);
  if (!trace) return trace.error();
  return Imported{.trace = std::move(*trace)};
}

void SetOrigin(Trace* trace, const OpenedFile& file) {
  if (trace->imported_from.empty()) trace->imported_from.push_back({.seq = trace->records++});
  ImportedFrom& from = trace->imported_from.front();
  from.format = trace->strings.Intern(file.format->name);
  from.file = trace->strings.Intern(file.path);
}

Result<Imported> ReadOthersFile(OpenedFile& file) {
  const Result<FileBytes> bytes = ReadBytes(*file.source);
  if (!bytes) return bytes.error();
  Result<Imported> imported = file.format->read(bytes->text);
  if (imported) SetOrigin(&imported->trace, file);
  return imported;
}

Result<Imported> ReadHeld(OpenedFile& file) {
  if (file.format && file.format->read) return ReadOthersFile(file);
  // The reader of traces says best what is wrong with a trace that is damaged at its beginning.
  const bool damaged = !file.format && (file.head.empty() || file.head.starts_with('{'));
  if (damaged || file.format == &TraceFormat()) return ReadOwnTrace(file);
  if (!file.format) return NotKnown(file);
  return Error{.message = std::string("not a trace, but: ") + file.format->title,
               .hint = "graphkit " + file.path + " says more"};
}

}  // namespace

std::optional<FileAbout> DescribeFolder(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return std::nullopt;
  uint64_t files = 0, traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (!entry.is_regular_file(failed)) continue;
    const std::string name = entry.path().filename().string();
    ++files;
    traces += name.ends_with(".json") || name.ends_with(".json.zst") ? 1u : 0u;
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

std::span<const FileFormat> FileFormats() { return kFormats; }

const FileFormat* FindFormat(std::string_view name) {
  const auto* at = std::ranges::find(kFormats, name, &FileFormat::name);
  return at == std::end(kFormats) ? nullptr : at;
}

const FileFormat* GuessFormat(std::string_view head) {
  const auto* at = std::ranges::find_if(kFormats, [&](const FileFormat& format) {
    return format.is ? format.is(head) : SchemaOf(head) == format.name;
  });
  return at == std::end(kFormats) ? nullptr : at;
}

const FileFormat& TraceFormat() { return kFormats[0]; }

FileAbout AboutFormat(const FileFormat& format) {
  FileAbout about{.kind = format.name, .what = format.title};
  for (const auto& [command, shows] : format.next) {
    if (command) about.next.push_back({command, shows});
  }
  return about;
}

FileAbout DescribeBytes(const FileFormat& format, std::string_view bytes) {
  FileAbout about = AboutFormat(format);
  if (format.is == IsResult) about.what += " " + std::string(SchemaOf(bytes)) + " --format json";
  if (format.facts) about.facts = format.facts(bytes);
  return about;
}

Result<OpenedFile> OpenInput(const std::string& path, std::atomic<size_t>* read) {
  Result<std::unique_ptr<ByteSource>> source = OpenFile(path, read);
  if (!source) return Named(source.error(), path);
  Result<std::string> head = Peek(*source, kHeadBytes);
  if (!head) return Named(head.error(), path);
  const FileFormat* format = GuessFormat(*head);
  return OpenedFile{path, std::move(*source), std::move(*head), format};
}

Result<Imported> ReadAsTrace(OpenedFile file) {
  Result<Imported> imported = ReadHeld(file);
  if (!imported) return Named(imported.error(), file.path);
  return imported;
}

Result<Imported> ImportFile(const std::string& path, const FileFormat* format,
                            std::atomic<size_t>* read) {
  Result<OpenedFile> file = OpenInput(path, read);
  if (!file) return file.error();
  if (format) file->format = format;
  return ReadAsTrace(std::move(*file));
}

bool IsNsys(std::string_view head) {
  using namespace std::string_view_literals;
  return head.starts_with("SQLite format 3\0"sv);
}

}  // namespace graphkit
