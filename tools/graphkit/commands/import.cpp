// `graphkit import`: another tool's file as a trace.
#include <string>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

namespace {

constexpr const char* kAuto = "auto";

struct ImportArguments {
  std::vector<std::string> words;  // [KIND] FILE
  std::string output = "-";
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

int RunImport(const ImportArguments& arguments) {
  const std::string kind = arguments.words.size() == 1 ? kAuto : arguments.words[0];
  if (kind == "merge") {
    return PrintError(Error{.message = "import merge is now graphkit merge FILE…"});
  }
  if (const std::string problem = CheckWord(kind, Kinds()); !problem.empty()) {
    return PrintError(Error{.message = "import: " + problem});
  }
  if (arguments.words.size() > 2) {
    return PrintError(Error{.message = "import: it takes one file",
                            .hint = "graphkit merge joins several files of one process"});
  }
  const std::string& file = arguments.words.back();
  const Result<Imported> imported = ReadAs(kind, file);
  if (!imported) return PrintError(imported.error());
  const std::vector<ImportedFrom>& from = imported->trace.imported_from;
  if (!from.empty()) PrintNote(std::string(imported->trace[from.front().summary]));
  const Result<void> written = WriteTraceFile(imported->trace, arguments.output);
  return written ? WarnIncomplete(imported->trace, file) : PrintError(written.error());
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ImportArguments>(
      app, exit_code, RunImport, "import", "Convert a file of another tool to a trace",
      {"graphkit import torch-snapshot snapshot.pickle -o trace.json",
       "graphkit import snapshot.pickle | graphkit analyze -"});
  sub->add_option("file", arguments->words,
                  "File, or - for stdin; before it, optionally, its format: " + AboutKinds())
      ->required()
      ->expected(1, 1000);
  AddOutput(*sub, arguments->output);
}

}  // namespace graphkit
