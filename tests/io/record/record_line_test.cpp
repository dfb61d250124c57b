// One record as a line: numbers, keys and texts.
#include <doctest/doctest.h>

#include <cstdio>
#include <vector>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"

namespace graphkit {
namespace {

template <typename Record>
std::string Line(Record record, const BorrowedValues& values = {}) {
  RecordLine line;
  return std::string(FieldWriter(line, values).Write(record));
}

TEST_CASE("numbers are written as the standard library writes them") {
  uint64_t power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10) {
    for (const uint64_t value : {power - 1, power, power + 1, power * 7 + 5, ~power}) {
      RecordLine line;
      line.Start("x");
      line.Decimal(value);
      line.Hexadecimal(value);
      char hex[32];
      std::snprintf(hex, sizeof hex, "\"0x%llx\"}", static_cast<unsigned long long>(value));
      CHECK(line.Finish() == "{\"type\":\"x\"" + std::to_string(value) + hex);
    }
  }
}

TEST_CASE("a line has its keys in order, and leaves out what is at its default") {
  const std::vector<Access> accesses = {{BlockId(1u), AccessMode::kReadWrite}};
  BorrowedValues values;
  NodeRecord node;
  node.id = NodeId(7u);
  node.row.graph = GraphId(0u);
  node.row.kind = NodeKind::kKernel;
  node.shape.grid[1] = 2;
  node.row.accesses = values.Add(accesses);
  node.row.accesses_complete = true;
  node.source = Source::kDerived;
  CHECK(Line(node, values) == R"({"type":"node","id":7,"graph":0,"kind":"kernel","grid":[1,2,1],)"
                              R"("access":[[1,"rw",0,-1]],"complete":true,"src":"derived"})");
  EventRecord event;
  event.id = EventId(12u);
  event.row.handle = 0xBEEF;
  CHECK(Line(event) == R"({"type":"event","id":12,"handle":"0xbeef"})");
}

TEST_CASE("any text is valid JSON in UTF-8") {
  NoteRecord note;
  note.text = std::string_view("a\"b\\c\n\x01 \xc3\xa9 \xff\xc3", 13);
  CHECK(Line(note) ==
        "{\"type\":\"note\",\"text\":\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 "
        "\xef\xbf\xbd\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace graphkit
