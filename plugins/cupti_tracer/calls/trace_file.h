// The tracer's file: made when there is something to record, under the name that the user asked
// for.
//
// Several processes may record at once, and an older trace may be in the way. The first process of
// a run to record something takes the name; it replaces the older file in one step, once the new
// one has a record. Every further process takes `trace.<pid>.json`. Which file is the older one is
// told by its mark (file_mark.h), which the run was started with.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/record_file.h"

namespace graphkit {

// Where a run records, as its environment says.
struct TraceTarget {
  std::string path;        // absolute
  std::string old;         // mark of the file that may be replaced (file_mark.h); empty: none
  uint64_t max_bytes = 0;  // 0: no bound
  uint64_t buffer = 0;     // bytes that may wait for the disk; 0: no waiting
  std::string device;      // "cuda" or "soft"
  std::string run;         // name that `graphkit trace` gave this process's run
  bool all_work = false;   // all work outside of captures is recorded
};

// Reads GRAPHKIT_TRACE_OUT, _OLD, _RUN, _LIMIT and _BUFFER; what is missing of the first two is
// completed and set, so that children of this process know it.
TraceTarget TargetFromEnvironment();

// "/a/trace.json" for process 7: "/a/trace.7.json"; with `again` above 1: "/a/trace.7.2.json".
std::string PathForProcess(const std::string& path, int64_t pid, int again);

// Facts about the process, for the first records of a trace.
struct ProcessFacts {
  std::string device_name;
  int driver = 0;
  uint32_t cupti = 0;
  std::string cupti_path;
};

class TraceFile : public RecordSink {
 public:
  explicit TraceFile(TraceTarget target, uint64_t epoch)
      : target_(std::move(target)), epoch_(epoch) {}
  ~TraceFile() override;

  uint64_t Append(std::string_view record) override;
  std::string_view Read(uint64_t place) const override { return file_.Read(place); }

  void SetFacts(ProcessFacts facts) { facts_ = std::move(facts); }
  // Ends the trace. What is appended later is dropped.
  bool Finish(const RecordCounts& counts);
  // Leaves the trace without an end: what comes later is not known, and dropped.
  void Stop();
  bool is_open() const { return file_.is_open(); }
  bool begun() const { return file_.is_open() || ended_; }

  // In a forked child: lets go of the parent's file. What comes next goes to a file of its own.
  void Forked();

  // The error, for one line; empty while all is well. Reported once.
  const std::string& error() const { return error_; }

 private:
  bool Open();
  bool Claim();
  void WriteProcess();
  void WriteClock();

  TraceTarget target_;
  uint64_t epoch_;  // CLOCK_MONOTONIC, ns, when the trace began
  ProcessFacts facts_;
  RecordFile file_;
  bool ended_ = false;  // or can't begin: there will be no other file
  std::string error_;
};

}  // namespace graphkit
