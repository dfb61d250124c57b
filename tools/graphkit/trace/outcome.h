// The outcome of a run of `graphkit trace`, and its messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/graphkit/trace/program.h"

namespace graphkit {

// A trace file as its process record and its last line tell.
struct TraceOutcome {
  std::string path;
  std::string run;        // that the process was one of
  int64_t pid = 0;        // the process
  bool writing = false;   // may not be over yet
  bool complete = false;  // it has its end record
  uint64_t records = 0;
  uint64_t nodes = 0;
  uint64_t graphs = 0;
  uint64_t dropped = 0;
  uint64_t whole_bytes = 0;  // up to the end of its last whole line
  bool operator==(const TraceOutcome&) const = default;
};

// Looks at a trace file; none: it isn't one, or not of the run.
std::optional<TraceOutcome> InspectTrace(const std::string& path,
                                         const std::optional<std::string>& run = {});

// The same of a trace of the run that is over. One that was cut off by the end of its process loses
// the unused space behind its last whole line.
std::optional<TraceOutcome> InspectOwn(const std::string& path, const std::string& run);

// "123 records, 15 nodes in 1 graph → trace.json"
std::string DescribeOutcome(const TraceOutcome& outcome);

// A file beside a trace: "trace.<middle>.json" of trace.json. Equal to itself until it is written
// to or replaced.
struct FileBeside {
  std::string path, middle, mark;
  bool operator==(const FileBeside&) const = default;
};
// Those of an ending, changed at or after `since_ns` (1970, nanoseconds).
std::vector<FileBeside> FilesBeside(const std::string& trace, const std::string& ending,
                                    int64_t since_ns);

// The other traces of a run: `trace.<pid>.json` beside `path`, by path.
std::vector<FileBeside> OtherTraces(const std::string& path);

// Why there is no trace: what to say, and what to do about it.
struct NoTraceFacts {
  std::string program;  // as found
  ElfFacts elf;
  bool soft = false;     // on the software device
  bool started = false;  // the tracer was in a process that initialised CUDA
};
std::string ExplainNoTrace(const NoTraceFacts& facts);

}  // namespace graphkit
