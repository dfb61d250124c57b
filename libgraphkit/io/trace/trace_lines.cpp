#include "libgraphkit/io/trace/trace_lines.h"

#include "libgraphkit/io/record/field_reader.h"
#include "libgraphkit/io/record/record_types.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

constexpr std::string_view kBegin = R"({"schema":"graphkit-trace","version":)";
constexpr std::string_view kDevice = R"(,"device":")";
constexpr std::string_view kEnd = R"(","records":[)";

bool Skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Error NotATrace() {
  return {.message = "not a graphkit trace",
          .hint = "the first line should be " + std::string(kBegin) +
                  R"(1,"device":…,"records":[; files of other tools: graphkit import)",
          .line = 1};
}

template <typename Record>
struct Reads {
  static void* Read(FieldReader& fields, Arena& arena) {
    auto* record = arena.New<Record>();
    fields.Read(*record);
    return record;
  }
  static constexpr RecordType value = {Record::kType, kRecordIndex<Record>, Read};
};

constexpr auto kRecordTypes = RecordTable<Reads>(RecordTypes());

const RecordType* FindType(std::string_view name) {
  const auto* at = std::ranges::find(kRecordTypes, name, &RecordType::name);
  return at == kRecordTypes.end() ? nullptr : at;
}

std::string Quoted(std::string_view name) { return "record \"" + std::string(name) + "\""; }

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// Stretches of ASCII, which is nearly all of a trace, are passed over as a whole.
bool IsUtf8(std::string_view text) {
  constexpr size_t kStretch = 64;
  while (!text.empty()) {
    unsigned char any = 0x80;
    if (text.size() >= kStretch) {
      any = 0;
      for (size_t i = 0; i < kStretch; ++i) any |= static_cast<unsigned char>(text[i]);
    }
    const size_t length = any < 0x80 ? kStretch : Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Reads the lines of one chunk.
class LineParser {
 public:
  LineParser(bool valid_utf8, ParsedLines& out) : valid_utf8_(valid_utf8), out_(out) {}

  // `line` is followed by a line feed. False: see ParsedLines::problem.
  bool Parse(std::string_view line) {
    const std::string_view text = TrimRight(line);
    if (text.empty()) return out_.blank = true;
    if (out_.blank) return Fail("the line is empty");
    if (!valid_utf8_ && !IsUtf8(text)) {
      return Fail("the line isn't UTF-8");
    }
    if (text.ends_with("},")) return ParseRecord(line.data(), false);
    if (text.ends_with("}]}")) return ParseRecord(line.data(), true);
    return Fail("the line isn't one record followed by a comma",
                "a trace has one record a line, and ends with the end record");
  }

 private:
  bool ParseRecord(const char* line, bool last) {
    const JsonCursor begin(line);
    FieldReader fields(begin, out_.values);
    std::string_view name;
    if (fields.TakeNext("type", name)) return ParseFields(name, fields, last);

    // Its first key isn't "type": look for that, and begin again.
    while (!fields.failed() && fields.PassOver()) {
      if (!fields.TakeNext("type", name)) continue;
      FieldReader again(begin, out_.values);
      return ParseFields(name, again, last);
    }
    if (fields.failed()) return Fail("the record " + fields.problem());
    return Fail("the record has no \"type\"");
  }

  bool ParseFields(std::string_view name, FieldReader& fields, bool last) {
    const RecordType* type = FindType(name);
    const bool is_end = type != nullptr && type->name == EndRecord::kType;
    if (last && !is_end) return Fail("the file ends, but this isn't an end record");
    if (is_end && !last) return Fail("the end record isn't followed by \"]}\"");
    ParsedRecord parsed{.type = type};
    if (type != nullptr) parsed.record = type->read(fields, out_.values.arena);
    while (type == nullptr && fields.PassOver()) {
    }
    const std::string_view problem = fields.problem();
    if (!problem.empty()) return Fail(Quoted(name) + " " + std::string(problem));
    JsonCursor behind = fields.position();
    const bool closed = last ? behind.Take(']') && behind.Take('}') : behind.Take(',');
    if (!closed || !behind.at_line_end()) return Fail(Quoted(name) + " isn't alone on its line");
    out_.records.push_back(parsed);
    return true;
  }

  bool Fail(std::string message, std::string hint = {}) {
    out_.problem = {std::move(message), std::move(hint)};
    return false;
  }

  bool valid_utf8_;
  ParsedLines& out_;
};

}  // namespace

std::string TraceHeader(DeviceKind device) {
  return std::string(kBegin) + std::to_string(kTraceVersion) + std::string(kDevice) +
         std::string(NameOf(device)) + std::string(kEnd) + "\n";
}

Result<DeviceKind> ParseTraceHeader(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!Skip(line, kBegin)) return NotATrace();
  const size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return NotATrace();
  const std::string_view version = line.substr(0, digits);
  if (version != std::to_string(kTraceVersion)) {
    return Error{.message = "is a trace of version " + std::string(version.substr(0, 20)) +
                            ", and this graphkit reads version " + std::to_string(kTraceVersion),
                 .hint = "use the graphkit that recorded it, or a later one",
                 .line = 1};
  }
  line.remove_prefix(digits);
  if (!Skip(line, kDevice) || !line.ends_with(kEnd)) return NotATrace();
  line.remove_suffix(kEnd.size());
  for (size_t i = 0; i < Names<DeviceKind>::value.size(); ++i) {
    if (line == Names<DeviceKind>::value[i]) return static_cast<DeviceKind>(i);
  }
  return Error{.message = "has device \"" + std::string(line.substr(0, 40)) + "\"",
               .hint = "it should be cuda, soft or imported",
               .line = 1};
}

void ParsedLines::Clear() {
  values.Clear();
  records.clear();
  problem = {};
  blank = false;
}

void ParseLines(std::string_view lines, ParsedLines& out) {
  out.Clear();
  LineParser parser(IsUtf8(lines), out);
  while (!lines.empty()) {
    const auto* feed = static_cast<const char*>(std::memchr(lines.data(), '\n', lines.size()));
    const size_t length = static_cast<size_t>(feed - lines.data());
    if (!parser.Parse(lines.substr(0, length))) return;
    lines.remove_prefix(length + 1);
  }
}

}  // namespace graphkit
