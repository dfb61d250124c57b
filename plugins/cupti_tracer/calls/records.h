// Output shared by the recorder's parts: each makes records of its own, in the order of the calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"
#include "plugins/cupti_tracer/calls/calls.h"
#include "plugins/cupti_tracer/ground/record_file.h"

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
    if constexpr (Operates<Record>()) {
      if (write_first_ != nullptr) std::exchange(write_first_, nullptr)();
      ++operations_;
    }
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
  // The same of a record without texts and lists, beside those that the next one was given.
  template <typename Record>
  void WriteAside(Record& r) {
    BorrowedValues none;
    sink_.Append(FieldWriter(line_, none).Write(r));
  }
  // Called right before the next record of an operation in a stream, once.
  void WriteFirst(std::function<void()> write) { write_first_ = std::move(write); }
  // How many records of operations in streams are written.
  uint64_t operations() const { return operations_; }
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
  // Is it of an operation in a stream, which comes after what was before it there?
  template <typename Record>
  static constexpr bool Operates() {
    if constexpr (std::is_same_v<Record, EagerCountRecord>) return false;  // of many, in no place
    if constexpr (requires(Record & r) { r.row.stream; }) return true;
    return requires(Record & r) { r.stream; };
  }

  RecordSink& sink_;
  RecordLine line_;
  BorrowedValues values_;
  RecordCounts counts_;
  std::function<void()> write_first_;
  uint64_t operations_ = 0;
};

}  // namespace graphkit
