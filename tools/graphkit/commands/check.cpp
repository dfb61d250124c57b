// `graphkit check`: the gate of a CI job.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/io/files/json_file.h"
#include "tools/graphkit/check/check.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/check_init.h"
#include "tools/graphkit/commands/check_settings.h"
#include "tools/graphkit/files/gate_files.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

enum class CheckFormat { kText, kConcise, kJson, kSarif, kJunit, kGithub, kMarkdown };

struct CheckArguments {
  std::vector<std::string> traces;
  CheckOptions options;
  std::string save_baseline;
  std::string init;
  CheckFormat format = CheckFormat::kText;
  std::string output = "-";
  size_t top = TextStyle().top;
};

Date Today() {
  const std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return {static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
          static_cast<unsigned>(day.day())};
}

// Where one is saved, the first time there is none to compare with.
Result<std::optional<Baseline>> ReadBaselineOf(const CheckSettings& settings, bool saving) {
  std::error_code absent;
  const bool first = saving && !std::filesystem::exists(settings.baseline, absent);
  if (settings.baseline.empty() || first) return std::optional<Baseline>();
  Result<Baseline> baseline = ReadWith(ParseBaseline, settings.baseline);
  if (!baseline) {
    Error error = baseline.error();
    if (error.kind == Error::Kind::kSystem) error.hint = "--save-baseline makes one";
    return error;
  }
  return std::optional<Baseline>(*std::move(baseline));
}

Result<void> SaveBaseline(const Baseline& baseline, const std::string& path) {
  const auto write = [&baseline](std::ostream& out) { WriteBaseline(baseline, out); };
  return WriteOutput(path, write);
}

// Without an earlier baseline what is saved is what is accepted: only budgets can fail.
Result<GateVerdict> Judge(const std::vector<GateSubject>& subjects, const CheckSettings& settings,
                          const std::string& save_as) {
  const Result<std::optional<Baseline>> baseline = ReadBaselineOf(settings, !save_as.empty());
  if (!baseline) return baseline.error();
  GateVerdict verdict = JudgeGate(subjects, settings.config, *baseline);
  if (save_as.empty()) return verdict;
  const Baseline made = MakeBaseline(subjects, verdict);
  GateVerdict own = JudgeGate(subjects, settings.config, made);
  if (verdict.exit_code == kExitIncomplete || own.exit_code == kExitIncomplete) {
    PrintWarning(save_as + " was not saved: the gate refuses what it would hold");
    return verdict.exit_code == kExitIncomplete ? verdict : own;
  }
  if (const Result<void> saved = SaveBaseline(made, save_as); !saved) return saved.error();
  const auto known =
      std::ranges::count(own.findings, FindingStatus::kKnown, &JudgedFinding::status);
  PrintNote("saved " + save_as + ", which accepts " +
            Counted(static_cast<uint64_t>(known), "finding") + " from now on");
  return *baseline ? verdict : own;
}

void Render(const GateRun& run, const CheckArguments& arguments, std::ostream& out) {
  const TextStyle style = StyleFor(arguments.output, arguments.top);
  switch (arguments.format) {
    case CheckFormat::kText:
      return RenderCheckText(run, {style, out});
    case CheckFormat::kConcise:
      return RenderCheckConcise(run, out);
    case CheckFormat::kJson:
      return RenderCheckJson(run, out);
    case CheckFormat::kSarif:
      return RenderSarif(run, GRAPHKIT_VERSION, out);
    case CheckFormat::kJunit:
      return RenderJunit(run, out);
    case CheckFormat::kGithub:
      return RenderGithubAnnotations(run, out);
    case CheckFormat::kMarkdown:
      return RenderCheckMarkdown(run, {style, out});
  }
}

// The command that makes what grew the new baseline; empty: nothing did.
std::string AcceptCommand(const CheckArguments& arguments, const CheckSettings& settings,
                          const GateVerdict& verdict) {
  const auto grew = [](const GateReason& reason) {
    return reason.kind == GateReason::Kind::kBaseline;
  };
  if (std::ranges::none_of(verdict.reasons, grew)) return "";
  std::string command = "graphkit check";
  for (const std::string& trace : arguments.traces) command += " " + ShellWord(trace);
  if (arguments.options.config) command += " --config " + ShellWord(*arguments.options.config);
  return command + " --save-baseline " + ShellWord(settings.baseline);
}

// A job's log has all reasons, also where the output goes to a file.
void SayOutcome(const GateRun& run, const std::string& output) {
  if (run.verdict.passed()) return PrintNote("check passed; see " + output);
  RenderCheckConcise(run, std::cerr);
  for (const std::string& note : run.verdict.notes) PrintNote(note);
  PrintError("check " + Outcome(run.verdict) + "; see " + output);
}

// After the verdict, which has saved the baseline; of a run that is refused nothing is kept.
Result<void> FinishInit(const GateFiles& files, const std::string& trace, const GateRun& run) {
  if (run.verdict.exit_code == kExitIncomplete) return {};
  if (auto written = WriteGateSettings(files); !written) return written;
  PrintNote("wrote " + files.config + " and " + files.suppressions +
            "; the gate is graphkit check " + trace + " --config " + files.config);
  return {};
}

int RunCheckCommand(CheckArguments arguments) {
  GateFiles files;
  if (!arguments.init.empty()) {
    Result<GateFiles> fresh = NewGateFiles(arguments.init);
    if (!fresh) return PrintError(fresh.error());
    files = *std::move(fresh);
    arguments.save_baseline = files.baseline;
  }
  const Result<CheckSettings> settings = ReadSettings(arguments.options, Today());
  if (!settings) return PrintError(settings.error());
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  const Job job;
  Result<std::vector<GateSubject>> subjects = ReadSubjects(job, *paths);
  if (!subjects) return PrintError(subjects.error());
  if (job.rank() != 0) return kExitOk;
  Result<GateVerdict> verdict = Judge(*subjects, *settings, arguments.save_baseline);
  if (!verdict) return PrintError(verdict.error());
  const std::string accept = AcceptCommand(arguments, *settings, *verdict);
  if (!accept.empty())
    verdict->notes.push_back("to accept what differs from the baseline: " + accept);
  std::error_code error;
  const GateRun run{.subjects = *std::move(subjects),
                    .checks = KnownChecks(),
                    .verdict = *std::move(verdict),
                    .accepts = !arguments.save_baseline.empty(),
                    .source_root = std::filesystem::current_path(error).string(),
                    .settings = std::filesystem::path(settings->file).lexically_normal()};
  const Result<void> written =
      WriteOutput(arguments.output, [&](std::ostream& out) { Render(run, arguments, out); });
  if (!written) return PrintError(written.error());
  if (!arguments.init.empty()) {
    const Result<void> finished = FinishInit(files, arguments.traces.front(), run);
    if (!finished) return PrintError(finished.error());
  }
  if (arguments.output != "-") SayOutcome(run, arguments.output);
  return run.verdict.exit_code;
}

void AddPresentation(CLI::App& sub, CheckArguments& arguments) {
  const CLI::Option* format = AddChoice<CheckFormat>(
      sub, "--format", arguments.format,
      {{"text", CheckFormat::kText},
       {"concise", CheckFormat::kConcise},
       {"json", CheckFormat::kJson},
       {"sarif", CheckFormat::kSarif},
       {"junit", CheckFormat::kJunit},
       {"github", CheckFormat::kGithub},
       {"markdown", CheckFormat::kMarkdown}},
      "Print text (the default), a line for each place and reason that fails (for editors and "
      "problem matchers), JSON with a stable schema, SARIF 2.1.0, JUnit XML, annotations of "
      "GitHub Actions, or Markdown for a job's summary");
  AddOutput(sub, arguments.output);
  FollowName<CheckFormat>(sub, format, arguments.output, arguments.format,
                          {{".json", CheckFormat::kJson},
                           {".sarif", CheckFormat::kSarif},
                           {".xml", CheckFormat::kJunit},
                           {".md", CheckFormat::kMarkdown}});
  AddTop(sub, arguments.top);
}

}  // namespace

void AddCheckCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<CheckArguments>(
      app, exit_code, RunCheckCommand, "check", "Fail when limits or checks are violated",
      {"graphkit check trace.json", "graphkit check trace.json --init ci/graphkit.json",
       "graphkit check trace.json --limit max-deferred=0,max-peak=1.2GiB,max-leaks=0",
       "graphkit check snapshot.pickle --limit max-peak=40GiB,max-idle=4GiB",
       "graphkit check trace.json --limit min-coverage=90%",
       "graphkit check trace.json --save-baseline baseline.json",
       "graphkit check rank*.json --baseline baseline.json --allow-increase 2%",
       "graphkit check trace.json --fail-on warning --format sarif -o check.sarif"});
  AddTraces(*sub, arguments->traces);
  AddCheckOptions(*sub, arguments->options);
  sub->add_option("--save-baseline", arguments->save_baseline,
                  "Write figures and findings to FILE, for later runs to compare with")
      ->option_text("FILE");
  sub->add_option(
         "--init", arguments->init,
         "Write settings to FILE, and a baseline and an empty list of suppressions beside it")
      ->option_text("FILE")
      ->excludes("--save-baseline", "--config", "--baseline");
  AddPresentation(*sub, *arguments);
}

}  // namespace graphkit
