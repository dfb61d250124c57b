// Lines of a trace file → records. One table names every type of record.
#pragma once

#include <simdjson.h>

#include <string_view>
#include <vector>

#include "libgraphkit/io/arena.h"
#include "libgraphkit/io/trace_assembler.h"

namespace graphkit {

class FieldReader;

// A type of record: how to read one, and how to put it into a trace.
struct RecordType {
  std::string_view name;
  const void* (*read)(FieldReader& fields, Arena& arena);
  bool (*add)(TraceAssembler& assembler, const void* record);
};

struct ParsedRecord {
  const RecordType* type = nullptr;  // none: unknown
  const void* record = nullptr;      // in the arena
};

// The records of some whole lines, up to the first that can't be read.
struct ParsedLines {
  Arena arena;
  std::vector<ParsedRecord> records;
  Problem problem;     // of the line after the last record; empty message: none
  bool blank = false;  // empty lines follow the last record

  void Clear();
};

// Parses lines. Not thread safe: one parser a thread.
class RecordParser {
 public:
  // Bytes that must be readable after the text.
  static constexpr size_t kPadding = simdjson::SIMDJSON_PADDING;

  // Parses `lines`, each ending in a line feed; `capacity` counts the padding too.
  void Parse(std::string_view lines, size_t capacity, ParsedLines& out);

 private:
  bool ParseLine(std::string_view line, size_t capacity, ParsedLines& out);
  bool ParseObject(std::string_view object, size_t capacity, bool last, ParsedLines& out);

  bool ParseFields(std::string_view name, FieldReader& fields, bool last, ParsedLines& out);
  bool Open(std::string_view text, size_t capacity, ParsedLines& out);
  static bool Fail(std::string message, ParsedLines& out);

  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;  // of the line that is being parsed
  simdjson::ondemand::object object_;
};

}  // namespace graphkit
