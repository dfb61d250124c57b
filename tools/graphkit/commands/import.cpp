// `graphkit import`: another tool's file as a trace, and several files of one process as one.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/render/json.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NotJoined, what, count, examples)

namespace {

constexpr const char* kAuto = "auto";

struct ImportArguments {
  std::vector<std::string> words;  // [KIND] FILE, or FILE…
  std::string output = "-";
  std::string report;
};

std::vector<std::string> Kinds() {
  std::vector<std::string> kinds;
  for (const FileFormat& format : FileFormats()) {
    if (format.read) kinds.emplace_back(format.name);
  }
  kinds.emplace_back(kAuto);
  return kinds;
}

std::string AboutKinds() {
  std::string about;
  for (const FileFormat& format : FileFormats()) {
    if (format.read) about += std::string(format.name) + " (" + format.written_by + "), ";
  }
  return about + "or auto (the default: detect it from the first bytes)";
}

bool IsThere(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

Result<Merged> ReadAndMerge(const std::vector<std::string>& files) {
  std::vector<MergeInput> inputs;
  for (const std::string& file : files) {
    Result<Imported> imported = ReadAs("auto", file);
    if (!imported) return imported.error();
    inputs.push_back({file, std::move(*imported)});
  }
  const Progress progress("merging " + std::to_string(files.size()) + " files");
  return Merge(std::move(inputs));
}

void WriteReport(const Merged& merged, std::ostream& out) {
  WriteDocument("graphkit-merge",
                Json{{"joined", merged.joined},
                     {"not_joined", merged.not_joined},
                     {"warnings", merged.warnings}},
                out, 1);
}

int ImportTogether(const ImportArguments& arguments) {
  const Result<Merged> merged = ReadAndMerge(arguments.words);
  if (!merged) return PrintError(merged.error());
  for (const std::string& warning : merged->warnings) PrintWarning(warning);
  for (const std::string& line : merged->joined) PrintNote(line);
  for (const NotJoined& left : merged->not_joined) PrintNote(Shown(left));
  Result<void> written = WriteTraceFile(merged->trace, arguments.output);
  if (written && !arguments.report.empty()) {
    written = WriteOutput(arguments.report, [&](std::ostream& out) { WriteReport(*merged, out); });
  }
  return written ? WarnIncomplete(merged->trace, "the merged trace") : PrintError(written.error());
}

int ImportOne(const std::string& kind, const ImportArguments& arguments) {
  const std::string& file = arguments.words.back();
  const Result<Imported> imported = ReadAs(kind, file);
  if (!imported) return PrintError(imported.error());
  const std::vector<ImportedFrom>& from = imported->trace.imported_from;
  if (!from.empty()) PrintNote(std::string(imported->trace[from.front().summary]));
  const Result<void> written = WriteTraceFile(imported->trace, arguments.output);
  return written ? WarnIncomplete(imported->trace, file) : PrintError(written.error());
}

int RunImport(const ImportArguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  const std::vector<std::string> kinds = Kinds();
  const bool one = words.size() == 1;
  if (!one && std::ranges::find(kinds, words[0]) == kinds.end() && !IsThere(words[0])) {
    return PrintError(Error{.message = "import: " + CheckWord(words[0], kinds)});
  }
  if (!one && std::ranges::find(kinds, words[0]) == kinds.end()) return ImportTogether(arguments);
  if (words.size() > 2) {
    return PrintError(Error{.message = "import: " + words[0] + " takes one file",
                            .hint = "without a format, several files of one process are joined"});
  }
  if (!arguments.report.empty()) {
    return PrintError(Error{.message = "import: --report is for several files"});
  }
  return ImportOne(one ? kAuto : words[0], arguments);
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ImportArguments>(
      app, exit_code, RunImport, "import",
      "Convert a file of another tool to a trace, or join several files of one process",
      {"graphkit import torch-snapshot snapshot.pickle -o trace.json",
       "graphkit import snapshot.pickle | graphkit analyze -",
       "graphkit import trace.json snapshot.pickle profile.json.gz -o all.json"});
  sub->add_option("file", arguments->words,
                  "Files of one process, traces among them, or - for stdin; before a single file, "
                  "optionally, its format: " +
                      AboutKinds())
      ->required()
      ->expected(1, 1000);
  AddOutput(*sub, arguments->output);
  sub->add_option("--report", arguments->report,
                  "Also write the joined and the unmatched parts of several files to FILE, as JSON")
      ->option_text("FILE");
}

}  // namespace graphkit
