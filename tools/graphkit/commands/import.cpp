// `graphkit import`: another tool's file as a trace.
#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/io/import/import.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/trace/trace_file.h"
#include "libgraphkit/render/json.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NotJoined, what, count, examples)

namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kMerge = "merge";

struct ImportArguments {
  std::vector<std::string> words;  // [KIND] FILE…
  std::string output = "-";
  std::string report;
};

std::vector<std::string> Kinds() {
  std::vector<std::string> kinds;
  for (const ImportFormat& format : ImportFormats()) kinds.emplace_back(format.name);
  kinds.emplace_back(kMerge);
  kinds.emplace_back(kAuto);
  return kinds;
}

std::string AboutKinds() {
  std::string about;
  for (const ImportFormat& format : ImportFormats()) {
    about += std::string(format.name) + " (" + format.what + "), ";
  }
  return about +
         "merge (several files of one process), or auto (the default): its first bytes tell";
}

Result<Imported> Read(const std::string& kind, const std::string& file) {
  Progress progress("importing " + (file == "-" ? std::string("standard input") : file),
                    FileSize(file));
  return ImportFile(file, FindImportFormat(kind), progress.done());
}

Result<void> Write(const Trace& trace, const std::string& path) {
  const Progress progress("writing " + (path == "-" ? std::string("standard output") : path));
  Result<void> written = WriteTrace(trace, path);
  if (written) SayWritten(path);
  return written;
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

Result<Merged> ReadAndMerge(const std::vector<std::string>& files) {
  std::vector<MergeInput> inputs;
  for (const std::string& file : files) {
    Result<Imported> imported = Read(kAuto, file);
    if (!imported) return imported.error();
    inputs.push_back({file, std::move(*imported)});
  }
  const Progress progress("merging " + std::to_string(files.size()) + " files");
  return Merge(std::move(inputs));
}

void WriteReport(const Merged& merged, std::ostream& out) {
  const Json report = {{"schema", "graphkit-merge"},
                       {"version", 1},
                       {"joined", merged.joined},
                       {"not_joined", merged.not_joined},
                       {"warnings", merged.warnings}};
  out << report.dump(1) << "\n";
}

int MergeFiles(const ImportArguments& arguments) {
  const std::vector<std::string> files(arguments.words.begin() + 1, arguments.words.end());
  const Result<Merged> merged = ReadAndMerge(files);
  if (!merged) return PrintError(merged.error());
  for (const std::string& warning : merged->warnings) PrintWarning(warning);
  for (const std::string& line : merged->joined) PrintNote(line);
  for (const NotJoined& left : merged->not_joined) PrintNote(Shown(left));
  if (const Result<void> written = Write(merged->trace, arguments.output); !written) {
    return PrintError(written.error());
  }
  if (!arguments.report.empty()) {
    const Result<void> written =
        WriteOutput(arguments.report, [&](std::ostream& out) { WriteReport(*merged, out); });
    if (!written) return PrintError(written.error());
  }
  return WarnIncomplete(merged->trace, "the merged trace");
}

int RunImport(const ImportArguments& arguments) {
  if (arguments.words.size() == 1) return Import(kAuto, arguments.words[0], arguments.output);
  const std::string problem = CheckWord(arguments.words[0], Kinds());
  if (!problem.empty()) {
    PrintError("import: " + problem);
    return kExitBad;
  }
  if (arguments.words[0] == kMerge) return MergeFiles(arguments);
  if (arguments.words.size() == 2) {
    return Import(arguments.words[0], arguments.words[1], arguments.output);
  }
  PrintError("import: one file at a time; several of one process: graphkit import merge …");
  return kExitBad;
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ImportArguments>(
      app, exit_code, RunImport, "import", "Read a file of another tool as a trace",
      {"graphkit import torch-snapshot snapshot.pickle -o trace.json",
       "graphkit import snapshot.pickle | graphkit analyze -",
       "graphkit import merge trace.json snapshot.pickle profile.json.gz -o all.json"});
  sub->add_option("file", arguments->words,
                  "the file, - for stdin; in front of it, if you like, what it is: " + AboutKinds())
      ->required()
      ->expected(1, 1000);
  AddOutput(*sub, arguments->output, "the trace; .zst compresses; - is stdout (the default)");
  sub->add_option("--report", arguments->report,
                  "merge: also write what was joined and what wasn't, as JSON")
      ->option_text("FILE");
}

}  // namespace graphkit
