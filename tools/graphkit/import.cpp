// `graphkit import`: another tool's file as a trace.
#include <memory>
#include <string>
#include <vector>

#include "libgraphkit/io/import/import.h"
#include "libgraphkit/io/trace_writer.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/input.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/progress.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

constexpr const char* kAuto = "auto";

struct ImportArguments {
  std::vector<std::string> words;  // [KIND] FILE
  std::string output = "-";
};

std::vector<std::string> Kinds() {
  std::vector<std::string> kinds;
  for (const ImportFormat& format : ImportFormats()) kinds.emplace_back(format.name);
  kinds.emplace_back(kAuto);
  return kinds;
}

std::string AboutKinds() {
  std::string about;
  for (const ImportFormat& format : ImportFormats()) {
    about += std::string(format.name) + " (" + format.what + "), ";
  }
  return about + "or auto (the default): its first bytes tell";
}

Result<Imported> Read(const std::string& kind, const std::string& file) {
  const Progress progress("importing " + (file == "-" ? std::string("standard input") : file));
  return ImportFile(file, FindImportFormat(kind));
}

Result<void> Write(const Trace& trace, const std::string& path) {
  const Progress progress("writing " + (path == "-" ? std::string("standard output") : path));
  return WriteTrace(trace, path);
}

int Import(const std::string& kind, const std::string& file, const std::string& output) {
  const Result<Imported> imported = Read(kind, file);
  if (!imported) return PrintError(imported.error());
  for (const std::string& line : imported->summary) PrintNote(line);
  if (const Result<void> written = Write(imported->trace, output); !written) {
    return PrintError(written.error());
  }
  return WarnIncomplete(imported->trace, file);
}

int RunImport(const ImportArguments& arguments) {
  if (arguments.words.size() == 1) return Import(kAuto, arguments.words[0], arguments.output);
  const std::string problem = CheckWord(arguments.words[0], Kinds());
  if (!problem.empty()) {
    PrintError("import: " + problem);
    return kExitBad;
  }
  return Import(arguments.words[0], arguments.words[1], arguments.output);
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("import", "Read a file of another tool as a trace");
  const auto arguments = std::make_shared<ImportArguments>();
  sub->add_option("file", arguments->words,
                  "the file, - for stdin; in front of it, if you like, what it is: " + AboutKinds())
      ->required()
      ->expected(1, 2);
  AddOutput(*sub, arguments->output, "the trace; .zst compresses; - is stdout (the default)");
  SetExamples(*sub, {"graphkit import torch-snapshot snapshot.pickle -o trace.json",
                     "graphkit import snapshot.pickle | graphkit analyze -"});
  sub->callback([&exit_code, arguments] { exit_code = RunImport(*arguments); });
}

}  // namespace graphkit
