#include "tools/graphkit/commands/check_settings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "libgraphkit/analysis/checks/checks.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/io/files/json_file.h"
#include "tools/graphkit/check_pages.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/suggest.h"
#include "tools/graphkit/files/gate_files.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

constexpr char kDefaultConfig[] = "graphkit.json";

std::string CheckPercent(const std::string& text) {
  return ParsePercent(text) ? "" : "'" + text + "' is not a percentage; for example 2%";
}

// Few bytes are no limit of memory: a unit was forgotten.
std::string CheckLimitSize(const std::string& text) {
  if (std::string problem = CheckSize(text); !problem.empty()) return problem;
  const Bytes bytes = *ParseBytes(text);
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || bytes == 0 || bytes >= kBlockGranularity) return "";
  return "'" + text + "' is " + FormatBytes(bytes) + "; write " + text + "GiB, or " + text +
         "B if bytes are meant";
}

// Sets the limit; otherwise the problem with its value.
std::string SetLimit(const GateLimit& limit, const std::string& text, double& bound) {
  switch (limit.unit) {
    case MeasureUnit::kBytes:
      bound = static_cast<double>(ParseBytes(text).value_or(0));
      return CheckLimitSize(text);
    case MeasureUnit::kCount:
      if (const auto count = ParseCount(text)) return bound = static_cast<double>(*count), "";
      return "invalid count '" + text + "'; for example 0";
    case MeasureUnit::kRatio:
      bound = std::strtod(text.c_str(), nullptr);
      return std::isfinite(bound) && bound >= 1.0 ? ""
                                                  : "'" + text + "' is not a ratio of at least 1";
    case MeasureUnit::kShare:
      break;
  }
  const auto share = ParseShare(text);
  bound = share.value_or(0);
  return share ? "" : "'" + text + "' is not a percentage up to 100%; for example 90%";
}

std::vector<std::string> LimitNames() {
  std::vector<std::string> names;
  for (const GateLimit& limit : kGateLimits) names.emplace_back(limit.name);
  return names;
}

// "max-peak=40GiB": sets the limit; otherwise the problem with it.
std::string SetLimit(const std::string& text, GateConfig& config) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  std::ranges::replace(name, '_', '-');  // as settings and Python have it
  if (std::string problem = CheckWord(name, LimitNames()); !problem.empty()) return problem;
  if (equals == text.npos) return name + " needs a value; for example max-leaks=0";
  const GateLimit& limit = *std::ranges::find(kGateLimits, name, &GateLimit::name);
  const std::string problem = SetLimit(limit, text.substr(equals + 1), config.limits[name]);
  return problem.empty() ? "" : name + ": " + problem;
}

// Empty: there is none.
std::string ConfigOf(const CheckOptions& options) {
  if (options.config) return *options.config;
  std::error_code error;
  if (!std::filesystem::exists(kDefaultConfig, error)) return "";
  PrintNote(std::string("settings from ") + kDefaultConfig);
  return kDefaultConfig;
}

// Options of the command line replace settings of the file.
void Override(const CheckOptions& options, GateConfigFile& file) {
  GateConfig& config = file.config;
  if (!options.fail_on.empty()) SetFailOn(options.fail_on, config);
  for (const auto& [name, bound] : options.limits.limits) config.limits[name] = bound;
  if (options.allow_increase) {
    config.allow_increase = ParsePercent(*options.allow_increase).value_or(0);
  }
  if (options.baseline) file.baseline = *options.baseline;
  if (options.suppressions) file.suppressions = *options.suppressions;
}

Result<void> AddSuppressions(GateConfigFile& file) {
  if (file.suppressions.empty()) return {};
  const auto suppressions = ReadWith(ParseSuppressions, file.suppressions);
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

// "max-deferred (deferred bytes of each graph), …".
std::string AboutLimits() {
  std::string about;
  for (const GateLimit& limit : kGateLimits) {
    about += (about.empty() ? "" : ", ") + std::string(limit.name) + " (" + limit.description + ")";
  }
  return about;
}

}  // namespace

void AddCheckOptions(CLI::App& app, CheckOptions& options) {
  app.add_option("--fail-on", options.fail_on,
                 "Fail on findings of at least this severity (warning without it) and of these "
                 "checks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("error|warning|note|none|ID,…");
  const auto set = [&options](const std::vector<std::string>& limits) {
    for (const std::string& limit : limits) SetLimit(limit, options.limits);
  };
  app.add_option_function<std::vector<std::string>>("--limit", set,
                                                    "Fail above (below) a limit: " + AboutLimits())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE,…")
      ->check([](const std::string& limit) {
        GateConfig ignored;
        return SetLimit(limit, ignored);
      });
  app.add_option("--baseline", options.baseline, "Compare with this output of --save-baseline")
      ->option_text("FILE");
  app.add_option("--allow-increase", options.allow_increase,
                 "Allow this much more than the baseline (default: 0%)")
      ->option_text("PERCENT")
      ->check(CheckPercent);
  app.add_option("--suppressions", options.suppressions, "Accepted findings, with reasons")
      ->option_text("FILE");
  app.add_option("--config", options.config,
                 "These settings as a file (default: graphkit.json, if it exists)")
      ->option_text("FILE");
}

Result<CheckSettings> ReadSettings(const CheckOptions& options, const Date& today) {
  std::string config = ConfigOf(options);
  Result<GateConfigFile> file =
      config.empty() ? GateConfigFile() : ReadWith(ParseGateConfig, config);
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
