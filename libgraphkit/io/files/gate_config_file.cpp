#include "libgraphkit/io/files/gate_files.h"

#include <algorithm>
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

Suppression ReadSuppression(JsonObject& object) {
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
  return suppression;
}

std::vector<Suppression> ReadSuppressionList(JsonObject& object) {
  return object.List(object.Array("suppressions"), "suppressions", ReadSuppression);
}

void ReadFailOn(JsonObject& object, GateConfig& config) {
  std::vector<std::string> words;
  for (const Json& word : object.Array("fail_on")) {
    if (!word.is_string()) return object.Fail("fail_on", "holds something that is no string");
    words.push_back(word.get<std::string>());
  }
  if (object.Find("fail_on") != nullptr) SetFailOn(words, config);
}

void ReadLimit(JsonObject& object, const GateLimit& limit, GateConfig& config) {
  std::string key = limit.name;
  std::ranges::replace(key, '-', '_');
  switch (limit.unit) {
    case MeasureUnit::kBytes:
      config.*limit.whole = object.OptionalBytes(key);
      return;
    case MeasureUnit::kCount:
      config.*limit.whole = object.OptionalCount(key);
      return;
    case MeasureUnit::kRatio:
      config.*limit.real = object.OptionalNumber(key);
      return;
    case MeasureUnit::kShare:
      break;
  }
  const auto text = object.OptionalString(key);
  if (!text) return;
  config.*limit.real = ParseShare(*text);
  if (!(config.*limit.real)) {
    object.Fail(key, "is not a percentage up to \"100%\", as \"90%\"");
  }
}

void ReadBudgets(JsonObject& object, GateConfig& config) {
  for (const GateLimit& limit : kGateLimits) ReadLimit(object, limit, config);
  if (const auto text = object.OptionalString("allow_increase")) {
    const auto increase = ParsePercent(*text);
    if (!increase) object.Fail("allow_increase", "is not a percentage, as \"2%\"");
    config.allow_increase = increase.value_or(0);
  }
}

GateConfigFile ReadCheck(JsonObject& object, const std::string& file) {
  GateConfigFile read;
  ReadFailOn(object, read.config);
  ReadBudgets(object, read.config);
  if (const auto path = object.OptionalString("baseline")) read.baseline = BesideFile(file, *path);
  const Json* suppressions = object.Find("suppressions");
  if (suppressions != nullptr && suppressions->is_string()) {
    read.suppressions = BesideFile(file, suppressions->get<std::string>());
  } else {
    read.config.suppressions = ReadSuppressionList(object);
  }
  return read;
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

std::optional<double> ParseShare(std::string_view text) {
  const std::optional<double> share = ParsePercent(text);
  return share && *share <= 1 ? share : std::nullopt;
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
  return ReadWith(ParseGateConfig, path);
}

Result<GateConfigFile> ParseGateConfig(const std::string& text, const std::string& file) {
  const auto read_check = [&](JsonObject& check) { return ReadCheck(check, file); };
  return ParseJsonFile(text, file, [&](JsonObject& object) {
    ExpectSchema(object, "graphkit-config", 1);
    const Json* check = object.Find("check");
    return check == nullptr ? GateConfigFile() : object.Inner(*check, "check", read_check);
  });
}

Result<std::vector<Suppression>> ReadSuppressions(const std::string& path) {
  return ReadWith(ParseSuppressions, path);
}

Result<std::vector<Suppression>> ParseSuppressions(const std::string& text,
                                                   const std::string& file) {
  return ParseJsonFile(text, file, [](JsonObject& object) {
    ExpectSchema(object, "graphkit-suppressions", 1);
    return ReadSuppressionList(object);
  });
}

}  // namespace graphkit
