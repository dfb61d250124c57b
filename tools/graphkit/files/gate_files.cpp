#include "tools/graphkit/files/gate_files.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/files/json_file.h"

namespace graphkit {
namespace {

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
  for (const nlohmann::json& word : object.Array("fail_on")) {
    if (!word.is_string()) return object.Fail("fail_on", "holds something that is no string");
    words.push_back(word.get<std::string>());
  }
  if (object.Find("fail_on") != nullptr) SetFailOn(words, config);
}

std::optional<double> ReadLimit(JsonObject& object, const GateLimit& limit) {
  std::string key = limit.name;
  std::ranges::replace(key, '-', '_');
  if (limit.unit == MeasureUnit::kBytes) return object.OptionalBytes(key);
  if (limit.unit == MeasureUnit::kCount) return object.OptionalCount(key);
  if (limit.unit == MeasureUnit::kRatio) return object.OptionalNumber(key);
  const auto text = object.OptionalString(key);
  if (!text) return {};
  const auto share = ParseShare(*text);
  if (!share) object.Fail(key, "is not a percentage up to \"100%\", as \"90%\"");
  return share;
}

void ReadBudgets(JsonObject& object, GateConfig& config) {
  for (const GateLimit& limit : kGateLimits) {
    if (const auto bound = ReadLimit(object, limit)) config.limits[limit.name] = *bound;
  }
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
  const nlohmann::json* suppressions = object.Find("suppressions");
  if (suppressions != nullptr && suppressions->is_string()) {
    read.suppressions = BesideFile(file, suppressions->get<std::string>());
  } else {
    read.config.suppressions = ReadSuppressionList(object);
  }
  return read;
}

using Ordered = nlohmann::ordered_json;

constexpr char kSchema[] = "graphkit-baseline";
constexpr uint64_t kVersion = 2;  // 1: graphs without content, findings without graph

std::string HexDigits(uint64_t value, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// "hash:sample", 16 digits and 8 for each of the sample; nothing if it isn't that.
std::optional<GraphContent> ParseContent(std::string_view text) {
  constexpr size_t kHash = 16, kSample = 8;
  if (text.size() <= kHash || text[kHash] != ':') return {};
  const auto hash = ParseNumber<uint64_t>(text.substr(0, kHash), 16);
  if (!hash || (text.size() - kHash - 1) % kSample != 0) return {};
  GraphContent content{.hash = *hash};
  for (size_t at = kHash + 1; at < text.size(); at += kSample) {
    const auto value = ParseNumber<uint32_t>(text.substr(at, kSample), 16);
    if (!value) return {};
    content.sample.push_back(*value);
  }
  if (content.sample.size() > GraphContent::kSampled) return {};
  return std::ranges::is_sorted(content.sample) ? std::optional(content) : std::nullopt;
}

std::string ContentText(const GraphContent& content) {
  std::string text = HexDigits(content.hash, 16) + ":";
  for (const uint32_t value : content.sample) text += HexDigits(value, 8);
  return text;
}

BaselineGraph ReadGraph(JsonObject& object) {
  BaselineGraph graph;
  graph.name = object.String("name");
  graph.ordinal = object.OptionalIndex("ordinal").value_or(0);
  if (const std::optional<std::string> content = object.OptionalString("content")) {
    graph.content = ParseContent(*content);
    if (!graph.content) object.Fail("content", "is not what graphkit writes there");
  }
  graph.peak_live_bytes = object.Count("peak_live_bytes");
  graph.deferred_bytes = object.Count("deferred_bytes");
  graph.never_freed_bytes = object.Count("never_freed_bytes");
  graph.launched = object.OptionalCount("launched").value_or(0) > 0;
  graph.peak_lines =
      object.List(object.Array("peak_lines"), object.where() + ".peak_lines", [](JsonObject& line) {
        return LineBytes{
            {line.String("function"), line.String("file"), line.OptionalIndex("line").value_or(0)},
            line.Count("bytes")};
      });
  return graph;
}

BaselineFinding ReadFinding(JsonObject& object, size_t graphs) {
  BaselineFinding finding;
  finding.check = object.String("check");
  finding.fingerprint = object.String("fingerprint");
  finding.count = object.Count("count");
  finding.bytes = object.Count("bytes");
  finding.leaks = object.OptionalCount("leaks").value_or(0);
  finding.graph = object.OptionalIndex("graph");
  if (finding.graph && *finding.graph >= graphs) {
    object.Fail("graph", "names a graph that isn't there");
  }
  return finding;
}

BaselineTrace ReadTraceEntry(JsonObject& object) {
  BaselineTrace trace;
  trace.trace = object.String("trace");
  trace.peak_outside_graphs_bytes = object.OptionalCount("peak_reserved_bytes");
  const auto outside = object.OptionalCount("peak_outside_graphs_bytes");
  if (outside) trace.peak_outside_graphs_bytes = outside;
  trace.graphs = object.List(object.Array("graphs"), object.where() + ".graphs", ReadGraph);
  trace.findings =
      object.List(object.Array("findings"), object.where() + ".findings",
                  [&](JsonObject& finding) { return ReadFinding(finding, trace.graphs.size()); });
  return trace;
}

Ordered GraphJson(const BaselineGraph& graph) {
  Ordered json{{"name", graph.name},
               {"ordinal", graph.ordinal},
               {"peak_live_bytes", graph.peak_live_bytes},
               {"deferred_bytes", graph.deferred_bytes},
               {"never_freed_bytes", graph.never_freed_bytes}};
  if (graph.launched) json["launched"] = 1;
  if (graph.content) json["content"] = ContentText(*graph.content);
  for (const LineBytes& line : graph.peak_lines) {
    json["peak_lines"].push_back(Ordered{{"file", line.at.file},
                                         {"line", line.at.line},
                                         {"function", line.at.function},
                                         {"bytes", line.bytes}});
  }
  return json;
}

Ordered FindingJson(const BaselineFinding& finding) {
  Ordered json{{"check", finding.check},
               {"fingerprint", finding.fingerprint},
               {"count", finding.count},
               {"bytes", finding.bytes}};
  if (finding.leaks > 0) json["leaks"] = finding.leaks;
  if (finding.graph) json["graph"] = *finding.graph;
  return json;
}

std::string DumpOrdered(const Ordered& value) {
  return value.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

template <typename T, typename ToJson>
void WriteList(const char* key, const std::vector<T>& list, ToJson to_json, std::ostream& out) {
  out << "\"" << key << "\": [";
  for (size_t i = 0; i < list.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ") << DumpOrdered(to_json(list[i]));
  }
  out << "]";
}

void WriteTraceEntry(const BaselineTrace& trace, std::ostream& out) {
  out << "{\"trace\": " << DumpOrdered(trace.trace);
  if (trace.peak_outside_graphs_bytes) {
    out << ", \"peak_outside_graphs_bytes\": " << *trace.peak_outside_graphs_bytes;
  }
  out << ",\n   ";
  WriteList("graphs", trace.graphs, GraphJson, out);
  out << ",\n   ";
  WriteList("findings", trace.findings, FindingJson, out);
  out << "}";
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

Result<GateConfigFile> ParseGateConfig(const std::string& text, const std::string& file) {
  const auto read_check = [&](JsonObject& check) { return ReadCheck(check, file); };
  return ParseJsonFile(text, file, [&](JsonObject& object) {
    ExpectSchema(object, "graphkit-config", 1);
    const nlohmann::json* check = object.Find("check");
    return check == nullptr ? GateConfigFile() : object.Inner(*check, "check", read_check);
  });
}

Result<std::vector<Suppression>> ParseSuppressions(const std::string& text,
                                                   const std::string& file) {
  return ParseJsonFile(text, file, [](JsonObject& object) {
    ExpectSchema(object, "graphkit-suppressions", 1);
    return ReadSuppressionList(object);
  });
}

Result<Baseline> ParseBaseline(const std::string& text, const std::string& file) {
  return ParseJsonFile(text, file, [](JsonObject& object) {
    ExpectSchema(object, kSchema, kVersion, 1);
    return Baseline{object.List(object.Array("traces"), "traces", ReadTraceEntry)};
  });
}

void WriteBaseline(const Baseline& baseline, std::ostream& out) {
  out << "{\"schema\": \"" << kSchema << "\", \"version\": " << kVersion << ", \"traces\": [";
  for (size_t i = 0; i < baseline.traces.size(); ++i) {
    out << (i == 0 ? "\n  " : ",\n  ");
    WriteTraceEntry(baseline.traces[i], out);
  }
  out << "\n]}\n";
}

}  // namespace graphkit
