#include "libgraphkit/io/files/gate_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>

#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr char kSchema[] = "graphkit-baseline";
constexpr uint64_t kVersion = 2;  // 1: graphs without content, findings without graph

// Reads `digits` hexadecimal digits, rising from `at`.
bool ReadHex(std::string_view text, size_t at, size_t digits, uint64_t& value) {
  const char* begin = text.data() + at;
  const auto read = std::from_chars(begin, begin + digits, value, 16);
  return read.ec == std::errc() && read.ptr == begin + digits;
}

std::string HexDigits(uint64_t value, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// "hash:sample", 16 digits and 8 for each of the sample; nothing if it isn't that.
std::optional<GraphContent> ParseContent(std::string_view text) {
  constexpr size_t kHash = 16, kSample = 8;
  GraphContent content;
  if (text.size() <= kHash || text[kHash] != ':') return {};
  if ((text.size() - kHash - 1) % kSample != 0 || !ReadHex(text, 0, kHash, content.hash)) return {};
  for (size_t at = kHash + 1; at < text.size(); at += kSample) {
    uint64_t value = 0;
    if (!ReadHex(text, at, kSample, value)) return {};
    content.sample.push_back(static_cast<uint32_t>(value));
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

std::string Dump(const Ordered& value) {
  return value.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

template <typename T, typename ToJson>
void WriteList(const char* key, const std::vector<T>& list, ToJson to_json, std::ostream& out) {
  out << "\"" << key << "\": [";
  for (size_t i = 0; i < list.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ") << Dump(to_json(list[i]));
  }
  out << "]";
}

void WriteTraceEntry(const BaselineTrace& trace, std::ostream& out) {
  out << "{\"trace\": " << Dump(trace.trace);
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

Result<Baseline> ReadBaseline(const std::string& path) { return ReadWith(ParseBaseline, path); }

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
