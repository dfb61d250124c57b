// A trace as the sequence of its records: one row per type of record says at which places they
// stand, and makes one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/trace/record_mover.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The record at a place: a row, and the index of the thing that the record describes.
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

// Makes the records of a trace, each where it stands: prints them, or moves them.
class PlacePrinter {
 public:
  // Each record is moved by `mover`, or else appended to `out`.
  PlacePrinter(const Trace& trace, std::string* out, RecordMover* mover);

  void Print(const PlacedRecord& placed);
  template <typename Record>
  void Give(Record& record) {
    if (place < values_.trace.times.size()) record.time = values_.trace.times[place];
    if (mover_ != nullptr) return mover_->Move(record, values_);
    *out_ += FieldWriter(line_, values_).Write(record);
  }

  const Trace& trace() const { return values_.trace; }
  // The graphs inside the node, as far as their bodies count from 0.
  std::span<const GraphId> HeldGraphs(NodeId node) const;

  Seq place = 0;

 private:
  TraceValues values_;
  std::string* out_;
  RecordMover* mover_;
  RecordLine line_;
  // The graphs inside child graph nodes and conditional nodes, bodies in order.
  std::unordered_map<NodeId, std::vector<GraphId>> held_graphs_;
};

struct RecordRow {
  void (*put)(const Trace& trace, Places& places);
  void (*print)(PlacePrinter& to, uint32_t index);
};

// Every place of the trace, in order. Notes and lost records have no place of their own: they take
// the first free ones, or follow. An error when two things claim one place, or one beyond the last.
Result<std::vector<PlacedRecord>> PlaceRecords(const Trace& trace);

}  // namespace graphkit
