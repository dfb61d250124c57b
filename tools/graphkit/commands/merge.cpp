// `graphkit merge`: several files of one process as one trace.
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/render/json.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NotJoined, what, count, examples)

namespace {

struct MergeArguments {
  std::vector<std::string> files;
  std::string output = "-";
  std::string report;
};

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

int RunMerge(const MergeArguments& arguments) {
  const Result<Merged> merged = ReadAndMerge(arguments.files);
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

}  // namespace

void AddMergeCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<MergeArguments>(
      app, exit_code, RunMerge, "merge", "Join several files of one process into one trace",
      {"graphkit merge trace.json snapshot.pickle profile.json.gz -o all.json"});
  sub->add_option("file", arguments->files, "Traces, and files of other tools as import reads them")
      ->required()
      ->expected(1, 1000);
  AddOutput(*sub, arguments->output);
  sub->add_option("--report", arguments->report,
                  "Also write the joined and the unmatched parts to FILE, as JSON")
      ->option_text("FILE");
}

}  // namespace graphkit
