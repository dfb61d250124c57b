// The lines of a trace file: the first, and those that are records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/record/record.h"
#include "libgraphkit/io/trace/trace_assembler.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/result.h"

namespace graphkit {

inline constexpr unsigned kTraceVersion = 1;

// The line, with its line feed.
std::string TraceHeader(DeviceKind device);

// The device that a first line (without its line feed) names; an error when it isn't the header of
// a trace, or that of another version.
Result<DeviceKind> ParseTraceHeader(std::string_view line);

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
