#include "libgraphkit/io/trace/trace_writer.h"

#include <functional>

#include "libgraphkit/io/bytes/byte_sink.h"
#include "libgraphkit/io/trace/record_rows.h"
#include "libgraphkit/io/trace/trace_lines.h"

namespace graphkit {
namespace {

constexpr size_t kFlushSize = size_t{256} * 1024;

void PrintEnd(const Trace& trace, size_t records, std::string& out) {
  EndRecord r;
  r.records = records;
  r.counts = EndCounts(trace);
  RecordLine line;
  out += FieldWriter(line, TraceValues{trace}).Write(r);
  out += "]}\n";
}

// Gives the text to `flush` piece by piece: it takes what is in the buffer, and empties it.
Result<void> Print(const Trace& trace, std::string& buffer,
                   const std::function<Result<void>()>& flush) {
  const Result<std::vector<PlacedRecord>> records = PlaceRecords(trace);
  if (!records) return records.error();
  buffer += TraceHeader(trace.process.device);
  PlacePrinter printer(trace, &buffer, nullptr);
  for (const PlacedRecord& record : *records) {
    printer.Print(record);
    buffer += ",\n";
    ++printer.place;
    if (buffer.size() < kFlushSize) continue;
    if (Result<void> flushed = flush(); !flushed) return flushed;
  }
  if (!trace.completeness.truncated) PrintEnd(trace, records->size(), buffer);
  return flush();
}

Result<void> WriteTo(const Trace& trace, ByteSink& sink) {
  std::string buffer;
  Result<void> printed = Print(trace, buffer, [&] {
    Result<void> written = sink.Write(buffer);
    buffer.clear();
    return written;
  });
  return printed ? sink.Finish() : printed;
}

}  // namespace

Result<void> WriteTrace(const Trace& trace, const std::string& path) {
  const Result<std::unique_ptr<ByteSink>> sink = CreateFile(path);
  const Result<void> written = sink ? WriteTo(trace, **sink) : Result<void>(sink.error());
  if (written) return {};
  Error error = written.error();
  error.file = path == "-" ? "standard output" : path;
  return error;
}

Result<std::string> FormatTrace(const Trace& trace) {
  std::string text;
  const Result<void> printed = Print(trace, text, [] { return Result<void>(); });
  if (!printed) return printed.error();
  return text;
}

}  // namespace graphkit
