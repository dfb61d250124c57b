// Output shared by the recorder's parts: each makes records of its own, in the order of the calls.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"
#include "libgraphkit/io/record/record_writer.h"
#include "plugins/cupti_tracer/calls.h"

namespace graphkit {

// Where records go.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Returns the place of the record, to be read again, or RecordFile::kDropped.
  virtual uint64_t Append(std::string_view record) = 0;
  virtual std::string_view Read(uint64_t place) const = 0;
};

class Records {
 public:
  explicit Records(RecordSink& sink) : sink_(sink) {}

  // A text or a list of the next record, which it lies beside until that is written.
  auto Add(const auto& value) { return values_.Add(value); }

  // Returns its place, as the sink does.
  template <typename Record>
  uint64_t Write(Record& r) {
    const uint64_t place = sink_.Append(FieldWriter(line_, values_).Write(r));
    values_.Clear();
    return place;
  }
  template <typename Record>
  uint64_t Write(const Call& call, Record& r) {
    r.time = call.time;
    return Write(r);
  }
  template <typename Record>
  void WriteEnd(auto id, Source source, uint64_t time = 0) {
    Record r;
    r.ended = id;
    r.source = source;
    r.time = time;
    Write(r);
  }
  void WriteNote(std::string_view text, bool stopped = false) {
    NoteRecord r;
    r.text = text;
    r.stopped = stopped;
    Write(r);
  }
  std::string_view Read(uint64_t place) const { return sink_.Read(place); }

  // Counts the record at a place, if it is written.
  uint64_t Counted(uint64_t place, uint64_t RecordCounts::*counter) {
    if (place != RecordFile::kDropped) ++(counts_.*counter);
    return place;
  }
  const RecordCounts& counts() const { return counts_; }

  // Each thread brings the memory that its records are made in.
  void SwapLine(RecordLine& line) { std::swap(line_, line); }

 private:
  RecordSink& sink_;
  RecordLine line_;
  BorrowedValues values_;
  RecordCounts counts_;
};

}  // namespace graphkit
