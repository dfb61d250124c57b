// A trace as the sequence of its records: one row per type of record says at which places they
// stand, and prints one. The rows are in rows_process.cpp, rows_stream.cpp, rows_graph.cpp and
// rows_memory.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libgraphkit/io/record_mover.h"
#include "libgraphkit/io/record_printer.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// What stands at a place: a row, and the index of the thing that the record speaks of.
struct PlacedRecord {
  const struct RecordRow* row = nullptr;  // none: nothing; written as a blank record
  uint32_t index = 0;
};

// Collects what stands where.
class Places {
 public:
  explicit Places(const Trace& trace) : records(trace.records) {}

  // Puts a record of the current row at `place`; kNever: it isn't in the trace.
  void Put(Seq place, size_t index);

  const RecordRow* row = nullptr;
  std::vector<PlacedRecord> records;
  std::optional<Error> error;
};

// Prints the record at one place.
class PlacePrinter {
 public:
  PlacePrinter(const Trace& trace, std::string& out);

  template <typename Record>
  void Print(Record& record) {
    if (place < trace.times.size()) record.time = trace.times[place];
    if (mover != nullptr) return mover->Move(record);
    printer_.Print(record);
  }

  template <typename T>
  static std::span<const T> Of(const std::vector<T>& column, Slice slice) {
    return {column.data() + slice.first, slice.count};
  }

  const Trace& trace;
  Seq place = 0;
  RecordMover* mover = nullptr;  // takes the records; then nothing is printed
  // The graphs inside child graph nodes and conditional nodes, bodies in order.
  std::unordered_map<NodeId, std::vector<GraphId>> held_graphs;

 private:
  RecordPrinter printer_;
};

struct RecordRow {
  void (*put)(const Trace& trace, Places& places);
  void (*print)(PlacePrinter& to, uint32_t index);
};

std::span<const RecordRow> ProcessRows();
std::span<const RecordRow> StreamRows();
std::span<const RecordRow> GraphRows();
std::span<const RecordRow> MemoryRows();
void PrintBlank(PlacePrinter& to);

// Every place of the trace, in order. Notes and lost records have no place of their own: they take
// the first free ones, or follow. An error when two things claim one place, or one beyond the last.
Result<std::vector<PlacedRecord>> PlaceRecords(const Trace& trace);

}  // namespace graphkit
