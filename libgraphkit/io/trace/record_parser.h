// Lines of a trace file → records. One table names every type of record.
#pragma once

#include <string_view>
#include <vector>

#include "libgraphkit/io/record/json_cursor.h"
#include "libgraphkit/io/record/record.h"
#include "libgraphkit/io/trace/trace_assembler.h"

namespace graphkit {

class FieldReader;

// A type of record, and how to read one.
struct RecordType {
  std::string_view name;
  size_t index;  // in RecordTypes
  void* (*read)(FieldReader& fields, Arena& arena);
};

struct ParsedRecord {
  const RecordType* type = nullptr;  // none: unknown
  void* record = nullptr;            // in the arena
};

// The records of some whole lines, up to the first that can't be read. They refer to the lines.
struct ParsedLines {
  LooseValues values;
  std::vector<ParsedRecord> records;
  Problem problem;     // of the line after the last record; empty message: none
  bool blank = false;  // empty lines follow the last record

  void Clear();
};

// Parses lines, each ending in a line feed and followed by kLinePadding bytes.
void ParseLines(std::string_view lines, ParsedLines& out);

}  // namespace graphkit
