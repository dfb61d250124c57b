#include "libgraphkit/io/files/gate_files.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

using Json = nlohmann::json;

std::string BesideFile(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

Result<Suppression> ParseSuppression(const Json& value, const std::string& where,
                                     const std::string& file) {
  JsonObject object(value, where);
  Suppression suppression;
  suppression.check = object.String("check");
  suppression.reason = object.String("reason");
  suppression.trace = object.OptionalString("trace").value_or("");
  suppression.graph = object.OptionalString("graph").value_or("");
  suppression.source = object.OptionalString("source").value_or("");
  if (const auto text = object.OptionalString("expires")) {
    suppression.expires = ParseDate(*text);
    if (!suppression.expires) object.Fail("expires", "is not a date, as \"2026-12-31\"");
  }
  if (suppression.reason.empty()) object.Fail("reason", "is empty");
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return suppression;
}

Result<std::vector<Suppression>> ParseSuppressionList(const Json& values, const std::string& file) {
  std::vector<Suppression> suppressions;
  for (size_t i = 0; i < values.size(); ++i) {
    auto suppression = ParseSuppression(values[i], "suppressions[" + std::to_string(i) + "]", file);
    if (!suppression) return suppression.error();
    suppressions.push_back(*std::move(suppression));
  }
  return suppressions;
}

void ParseFailOn(JsonObject& object, GateConfig& config) {
  std::vector<std::string> words;
  for (const Json& word : object.Array("fail_on")) {
    if (!word.is_string()) return object.Fail("fail_on", "holds something that is no string");
    words.push_back(word.get<std::string>());
  }
  if (object.Find("fail_on") != nullptr) SetFailOn(words, config);
}

void ParseBudgets(JsonObject& object, GateConfig& config) {
  config.max_deferred_bytes = object.OptionalBytes("max_deferred");
  config.max_peak_bytes = object.OptionalBytes("max_peak");
  config.max_leaks = object.OptionalCount("max_leaks");
  config.max_reserved_over_allocated = object.OptionalNumber("max_reserved_over_allocated");
  if (const auto text = object.OptionalString("allow_increase")) {
    const auto increase = ParsePercent(*text);
    if (!increase) object.Fail("allow_increase", "is not a percentage, as \"2%\"");
    config.allow_increase = increase.value_or(0);
  }
}

Result<GateConfigFile> ParseCheck(const Json& value, const std::string& file) {
  JsonObject object(value, "check");
  GateConfigFile parsed;
  ParseFailOn(object, parsed.config);
  ParseBudgets(object, parsed.config);
  if (const auto path = object.OptionalString("baseline")) {
    parsed.baseline = BesideFile(file, *path);
  }
  const Json* suppressions = object.Find("suppressions");
  if (suppressions != nullptr && suppressions->is_string()) {
    parsed.suppressions = BesideFile(file, suppressions->get<std::string>());
  } else if (suppressions != nullptr) {
    auto list = ParseSuppressionList(object.Array("suppressions"), file);
    if (!list) return list.error();
    parsed.config.suppressions = *std::move(list);
  }
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return parsed;
}

}  // namespace

std::optional<double> ParsePercent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(percent) || std::signbit(percent)) return std::nullopt;
  return percent / 100;
}

void SetFailOn(const std::vector<std::string>& words, GateConfig& config) {
  config.fail_on_severity.reset();
  config.fail_on_checks.clear();
  for (const std::string& word : words) {
    std::optional<Severity> severity;
    for (const Severity each : {Severity::kNote, Severity::kWarning, Severity::kError}) {
      if (word == SeverityName(each)) severity = each;
    }
    if (severity && (!config.fail_on_severity || *severity < *config.fail_on_severity)) {
      config.fail_on_severity = severity;
    }
    if (!severity && word != "none") config.fail_on_checks.push_back(word);
  }
}

Result<GateConfigFile> ReadGateConfig(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  return ParseGateConfig(*text, path);
}

Result<GateConfigFile> ParseGateConfig(const std::string& text, const std::string& file) {
  const Result<Json> json = ParseJson(text, file);
  if (!json) return json.error();
  JsonObject object(*json, "the file");
  ExpectSchema(object, "graphkit-config", 1);
  const Json* check = object.Find("check");
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return check == nullptr ? GateConfigFile() : ParseCheck(*check, file);
}

Result<std::vector<Suppression>> ReadSuppressions(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  return ParseSuppressions(*text, path);
}

Result<std::vector<Suppression>> ParseSuppressions(const std::string& text,
                                                   const std::string& file) {
  const Result<Json> json = ParseJson(text, file);
  if (!json) return json.error();
  JsonObject object(*json, "the file");
  ExpectSchema(object, "graphkit-suppressions", 1);
  const Json& values = object.Array("suppressions");
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return ParseSuppressionList(values, file);
}

}  // namespace graphkit
