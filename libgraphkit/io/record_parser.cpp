#include "libgraphkit/io/record_parser.h"

#include <array>
#include <cstring>

#include "libgraphkit/io/field_reader.h"
#include "libgraphkit/io/record_types.h"

namespace graphkit {
namespace {

template <typename Record>
constexpr RecordType Row() {
  return {Record::kType,
          [](FieldReader& fields, Arena& arena) -> const void* {
            auto* record = arena.New<Record>();
            fields.Read(*record);
            return record;
          },
          [](TraceAssembler& assembler, const void* record) {
            return assembler.Add(*static_cast<const Record*>(record));
          }};
}

template <typename... Records>
constexpr std::array<RecordType, sizeof...(Records)> Table(RecordList<Records...>) {
  return {Row<Records>()...};
}

constexpr auto kRecordTypes = Table(RecordTypes());

const RecordType* FindType(std::string_view name) {
  for (const RecordType& type : kRecordTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// Why a record can't be read, from what its fields say.
std::string Describe(std::string_view name, const FieldReader& fields) {
  return "record \"" + std::string(name) + "\" " + fields.problem();
}

}  // namespace

void ParsedLines::Clear() {
  arena.Reset();
  records.clear();
  problem = {};
  blank = false;
}

void RecordParser::Parse(std::string_view lines, size_t capacity, ParsedLines& out) {
  out.Clear();
  while (!lines.empty()) {
    const auto* feed = static_cast<const char*>(std::memchr(lines.data(), '\n', lines.size()));
    const size_t length = static_cast<size_t>(feed - lines.data());
    if (!ParseLine(lines.substr(0, length), capacity, out)) return;
    lines.remove_prefix(length + 1);
    capacity -= length + 1;
  }
}

bool RecordParser::ParseLine(std::string_view line, size_t capacity, ParsedLines& out) {
  line = TrimRight(line);
  if (line.empty()) return out.blank = true;
  if (out.blank) {
    out.problem.message = "the line is empty";
    return false;
  }
  if (line.ends_with("},")) {
    line.remove_suffix(1);
    return ParseObject(line, capacity, false, out);
  }
  if (line.ends_with("}]}")) {
    line.remove_suffix(2);
    return ParseObject(line, capacity, true, out);
  }
  out.problem = {"the line isn't one record followed by a comma",
                 "a trace has one record a line, and ends with the end record"};
  return false;
}

bool RecordParser::Fail(std::string message, ParsedLines& out) {
  out.problem.message = std::move(message);
  return false;
}

bool RecordParser::Open(std::string_view text, size_t capacity, ParsedLines& out) {
  auto error = parser_.iterate(text.data(), text.size(), capacity).get(document_);
  if (!error) error = document_.get_object().get(object_);
  if (!error) return true;
  return Fail(std::string("not valid JSON (") + simdjson::error_message(error) + ")", out);
}

bool RecordParser::ParseObject(std::string_view text, size_t capacity, bool last,
                               ParsedLines& out) {
  if (!Open(text, capacity, out)) return false;
  FieldReader fields(object_, out.arena);
  std::string_view name;
  if (fields.TakeFirst("type", name)) return ParseFields(name, fields, last, out);
  if (fields.failed()) return Fail("the record " + fields.problem(), out);

  // Its first key isn't "type": look for that, and begin again.
  if (!Open(text, capacity, out)) return false;
  if (object_.find_field_unordered("type").get_string().get(name)) {
    return Fail("the record has no \"type\", or isn't valid JSON", out);
  }
  name = out.arena.Copy(name);
  if (!Open(text, capacity, out)) return false;
  FieldReader unordered(object_, out.arena);
  return ParseFields(name, unordered, last, out);
}

bool RecordParser::ParseFields(std::string_view name, FieldReader& fields, bool last,
                               ParsedLines& out) {
  const RecordType* type = FindType(name);
  const bool is_end = type != nullptr && type->name == EndRecord::kType;
  if (last && !is_end) return Fail("the file ends, but this isn't an end record", out);
  if (is_end && !last) return Fail("the end record isn't followed by \"]}\"", out);
  ParsedRecord parsed{.type = type};
  if (type != nullptr) parsed.record = type->read(fields, out.arena);
  if (type == nullptr) fields.PassOverAll();
  if (fields.failed()) return Fail(Describe(name, fields), out);
  if (document_.current_location().error() == simdjson::SUCCESS) {
    return Fail("record \"" + std::string(name) + "\" is followed by more than a comma", out);
  }
  out.records.push_back(parsed);
  return true;
}

}  // namespace graphkit
