// Prints the JSON Schema of trace files, from the records' fields.
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "libgraphkit/io/record/record_types.h"
#include "libgraphkit/io/trace/trace_lines.h"

namespace graphkit {
namespace {

using Json = nlohmann::ordered_json;

Json Ref(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

template <typename Words>
Json WordsSchema() {
  return {{"enum", Words::value}};
}

// The schema of a value: one overload a type, as in field_reader.h and field_writer.h.
template <std::integral T>
Json Schema(const T&) {
  if (std::is_signed_v<T>) return {{"type", "integer"}};
  if (sizeof(T) == 8) return Ref("count");
  if (sizeof(T) == 4) return Ref("u32");
  return {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<T>::max()}};
}
Json Schema(const TwoWords&) { return Ref("count"); }
Json Schema(const bool&) { return {{"type", "boolean"}}; }
template <typename Tag>
Json Schema(const Id<Tag>&) {
  return Ref("id");
}
Json Schema(const Later&) { return Ref("id"); }
Json Schema(const StringId&) { return {{"type", "string"}}; }
Json Schema(const std::string&) { return {{"type", "string"}}; }
template <typename T>
Json Schema(const Hex<T>&) {
  return Ref("hex");
}
Json Schema(const EdgeType&) { return {{"enum", {0, 1}}}; }
template <typename Enum>
requires requires { Names<Enum>::value; }
Json Schema(const Enum&) { return WordsSchema<Names<Enum>>(); }
Json Schema(const NodeKind&) {
  Json words = WordsSchema<Names<NodeKind>>();
  words["enum"].push_back("unknown");
  return words;
}
template <typename Words>
Json Schema(const AsWord<Words>&) {
  return WordsSchema<Words>();
}
Json Schema(const Length&) { return {{"type", "integer"}, {"minimum", -1}}; }
Json Schema(const Half&) { return Ref("u32"); }

Json Exactly(const Json& parts) {
  return {{"type", "array"}, {"prefixItems", parts}, {"items", false}, {"minItems", parts.size()}};
}
Json Schema(const Extents& extents) {
  Json parts = Json::array();
  for (const uint32_t extent : extents.value) parts.push_back(Schema(extent));
  return Exactly(parts);
}
constexpr size_t kRowParts = 4;
void AddPart(auto&& part, Json& parts) { parts.push_back(Schema(part)); }
void AddPart(RowParts, Json& parts) { parts.insert(parts.end(), kRowParts, Ref("u32")); }
template <HasParts T>
Json Schema(const T& value) {
  T entry = value;
  Json parts = Json::array();
  Parts(entry, [&](auto&&... part) { return (AddPart(part, parts), ..., true); });
  Json schema = Exactly(parts);
  if constexpr (std::same_as<T, Access>) schema["minItems"] = parts.size() - kRowParts;
  return schema;
}

template <typename T>
Json ListSchema() {
  return {{"type", "array"}, {"items", Schema(T())}};
}
template <typename Column>
Json Schema(const Listed<Column>&) {
  return ListSchema<typename Column::value_type>();
}
template <typename T>
Json Schema(const std::span<const T>&) {
  return ListSchema<T>();
}
Json Schema(const std::vector<std::string>&) { return ListSchema<std::string>(); }

// The keys of one type of record.
struct RecordSchema {
  Json properties;
  Json required = {"type"};

  void Always(std::string_view key, auto&& value) { properties[std::string(key)] = Schema(value); }
  void Optional(std::string_view key, auto&& value, auto&&...) { Always(key, value); }
  void Present(std::string_view key, bool, auto&& value) { Always(key, value); }
  void Required(std::string_view key, auto&& value) {
    Always(key, value);
    required.push_back(key);
  }
};

template <typename Record>
struct Row {
  static Json Make() {
    RecordSchema schema;
    Record record;
    schema.properties["type"] = {{"const", Record::kType}};
    record.Fields(schema);
    schema.properties["t"] = Ref("time");
    schema.properties["src"] = Ref("source");
    return {{"required", schema.required}, {"properties", schema.properties}};
  }
  static constexpr auto value = std::pair(Record::kType, &Make);
};

// Definitions that the records' schemas refer to.
Json Terms() {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  Json number = {{"type", "integer"}, {"minimum", 0}};
  Json terms = {{"id", number}, {"u32", number}, {"count", number}};
  terms["id"]["maximum"] = GraphId::kNone - 1;
  terms["id"]["description"] = "Counts from 0 per kind, in order of appearance.";
  terms["u32"]["maximum"] = std::numeric_limits<uint32_t>::max();
  terms["count"]["maximum"] = kMost;
  terms["hex"] = {{"type", "string"}, {"pattern", "^0x[0-9a-fA-F]{1,16}$"}};
  terms["time"] = Ref("count");
  terms["time"]["description"] = "Nanoseconds since the trace began.";
  terms["source"] = WordsSchema<Names<Source>>();
  return terms;
}

Json Definitions() {
  Json definitions = Terms();
  Json record = {{"type", "object"}, {"required", {"type"}}, {"allOf", Json::array()}};
  record["properties"]["type"] = {{"type", "string"}};
  for (const auto& [type, make] : RecordTable<Row>(RecordTypes())) {
    const std::string name(type);
    definitions[name] = make();
    record["allOf"].push_back(
        {{"if", {{"properties", {{"type", {{"const", name}}}}}}}, {"then", Ref(name.c_str())}});
  }
  definitions["record"] = record;
  return definitions;
}

Json TraceSchema() {
  const Json records = {{"type", "array"},
                        {"items", Ref("record")},
                        {"contains", Ref("end")},
                        {"minContains", 1},
                        {"maxContains", 1}};
  return {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "graphkit-trace, version " + std::to_string(kTraceVersion)},
      {"description",
       "One whole trace file (docs/format.md). Keys and types of records that aren't named here "
       "are allowed. What a schema can't say: one record a line, dense ids, references only to "
       "what has appeared."},
      {"type", "object"},
      {"required", {"schema", "version", "device", "records"}},
      {"properties",
       {{"schema", {{"const", "graphkit-trace"}}},
        {"version", {{"const", kTraceVersion}}},
        {"device", WordsSchema<Names<DeviceKind>>()},
        {"records", records}}},
      {"$defs", Definitions()}};
}

}  // namespace
}  // namespace graphkit

int main() { std::cout << graphkit::TraceSchema().dump(2) << "\n"; }
