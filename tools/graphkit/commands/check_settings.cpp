#include "tools/graphkit/commands/check_settings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "libgraphkit/analysis/checks/checks.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/io/files/gate_files.h"
#include "tools/graphkit/check_pages.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/suggest.h"
#include "tools/graphkit/cli/talk.h"

namespace graphkit {

namespace {

constexpr char kDefaultConfig[] = "graphkit.json";

std::string CheckPercent(const std::string& text) {
  return ParsePercent(text) ? "" : "'" + text + "' is not a percentage; for example 2%";
}

// Of what can't be more than all.
std::string CheckShare(const std::string& text) {
  return ParseShare(text) ? "" : "'" + text + "' is not a percentage up to 100%; for example 90%";
}

// The conversion takes -1 for the largest number: a limit that nothing exceeds.
std::string CheckCount(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "invalid count '" + text + "'; for example 0";
}

// A few bytes are no limit of memory: a unit was forgotten.
std::string CheckLimit(const std::string& text) {
  const std::optional<Bytes> bytes = ParseBytes(text);
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !bytes || *bytes == 0 || *bytes >= kBlockGranularity) return "";
  return "'" + text + "' is " + FormatBytes(*bytes) + "; write " + text + "GiB, or " + text +
         "B if bytes are meant";
}

// Empty: there is none.
std::string ConfigOf(const CheckOptions& options) {
  if (options.config) return *options.config;
  std::error_code error;
  if (!std::filesystem::exists(kDefaultConfig, error)) return "";
  PrintNote(std::string("settings from ") + kDefaultConfig);
  return kDefaultConfig;
}

// Options of the command line replace those of the file.
void Override(const CheckOptions& options, GateConfigFile& file) {
  GateConfig& config = file.config;
  if (!options.fail_on.empty()) SetFailOn(options.fail_on, config);
  if (options.max_deferred) config.max_deferred_bytes = options.max_deferred;
  if (options.max_peak) config.max_peak_bytes = options.max_peak;
  if (options.max_idle) config.max_idle_bytes = options.max_idle;
  if (options.max_exec_bytes) config.max_exec_bytes = options.max_exec_bytes;
  if (options.max_leaks) config.max_leaks = options.max_leaks;
  if (options.max_reserved_over_allocated) {
    config.max_reserved_over_allocated = options.max_reserved_over_allocated;
  }
  if (options.min_coverage) config.min_coverage = ParseShare(*options.min_coverage);
  if (options.allow_increase) {
    config.allow_increase = ParsePercent(*options.allow_increase).value_or(0);
  }
  if (options.baseline) file.baseline = *options.baseline;
  if (options.suppressions) file.suppressions = *options.suppressions;
}

Result<void> AddSuppressions(GateConfigFile& file) {
  if (file.suppressions.empty()) return {};
  const auto suppressions = ReadSuppressions(file.suppressions);
  if (!suppressions) {
    Error error = suppressions.error();
    if (error.kind == Error::Kind::kSystem)
      error.hint = "graphkit check TRACE --init FILE makes one";
    return error;
  }
  auto& all = file.config.suppressions;
  all.insert(all.end(), suppressions->begin(), suppressions->end());
  return {};
}

Result<void> RefuseUnknownChecks(const GateConfig& config) {
  const std::vector<GateCheck> known = KnownChecks();
  const std::vector<std::string> unknown = UnknownChecks(config, known);
  if (unknown.empty()) return {};
  const std::string words[] = {"error", "warning", "note", "none"};
  std::optional<std::string> nearest = Nearest(unknown.front(), words);
  if (const Check* check = NearestCheck(unknown.front())) nearest = check->id;
  return Error{
      .message = "no check or severity '" + unknown.front() + "'",
      .hint = nearest ? "did you mean " + *nearest + "?" : "graphkit help checks lists the checks"};
}

}  // namespace

void AddCheckOptions(CLI::App& app, CheckOptions& options) {
  app.add_option("--fail-on", options.fail_on,
                 "what findings fail: warning (the default), error, note or none, and ids of "
                 "checks, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("ID,…");
  AddSize(app, "--max-deferred", options.max_deferred, "deferred bytes allowed in each graph")
      ->check(CheckLimit);
  AddSize(
      app, "--max-peak", options.max_peak,
      "peak live bytes allowed in each graph; without graphs, as in a snapshot: peak bytes in use")
      ->check(CheckLimit);
  AddSize(app, "--max-idle", options.max_idle,
          "reserved bytes allowed that aren't in use at the end of each trace")
      ->check(CheckLimit);
  AddSize(app, "--max-exec-bytes", options.max_exec_bytes,
          "device memory that executables may take at once in each trace, at the upper end of its "
          "interval")
      ->check(CheckLimit);
  app.add_option("--max-leaks", options.max_leaks, "leaks allowed in each trace")
      ->option_text("N")
      ->check(CheckCount);
  app.add_option("--max-reserved-over-allocated", options.max_reserved_over_allocated,
                 "peak reserved over peak allocated bytes allowed in each trace")
      ->option_text("RATIO")
      ->check([](const std::string& text) {
        const double ratio = std::strtod(text.c_str(), nullptr);
        return std::isfinite(ratio) && ratio >= 1 ? ""
                                                  : "'" + text + "' is not a ratio of at least 1";
      });
  app.add_option("--min-coverage", options.min_coverage,
                 "kernel launches that must run in graphs, of all from the first graph launch on, "
                 "in each trace: 90%")
      ->option_text("PERCENT")
      ->check(CheckShare);
  app.add_option("--baseline", options.baseline, "what --save-baseline wrote, to compare with")
      ->option_text("FILE");
  app.add_option("--allow-increase", options.allow_increase,
                 "how much more than the baseline is allowed (default: 0%)")
      ->option_text("PERCENT")
      ->check(CheckPercent);
  app.add_option("--suppressions", options.suppressions, "findings that are accepted, with reasons")
      ->option_text("FILE");
  app.add_option("--config", options.config,
                 "these settings as a file (default: graphkit.json, when it is there)")
      ->option_text("FILE");
}

Result<CheckSettings> ReadSettings(const CheckOptions& options, const Date& today) {
  std::string config = ConfigOf(options);
  Result<GateConfigFile> file = config.empty() ? GateConfigFile() : ReadGateConfig(config);
  if (!file) return file.error();
  Override(options, *file);
  if (const Result<void> added = AddSuppressions(*file); !added) return added.error();
  if (const auto known = RefuseUnknownChecks(file->config); !known) return known.error();
  if (options.allow_increase && file->baseline.empty()) {
    return Error{.message = "--allow-increase is about a baseline, and there is none",
                 .hint = "name it with --baseline FILE"};
  }
  file->config.today = today;
  return CheckSettings{std::move(config), std::move(file->config), std::move(file->baseline)};
}

std::vector<GateCheck> KnownChecks() {
  std::vector<GateCheck> known;
  for (const Check& check : AllChecks()) {
    known.push_back({.id = std::string(check.id),
                     .summary = std::string(check.what),
                     .page = std::string(PageOf(check.id))});
  }
  return known;
}

}  // namespace graphkit
