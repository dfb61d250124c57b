// Support of `graphkit trace` for programs that use PyTorch: a site hook records the memory history
// of each process (plugins/torch_hook), and afterwards it is joined into the process's trace.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graphkit {

// The environment that leads a Python to the hook; empty, with a warning, without the hook's files.
// It records PyTorch's memory for `trace`, and leads to the software device what the dynamic loader
// can't.
std::vector<std::pair<std::string, std::string>> PythonHookEnvironment(const std::string& trace);

// A snapshot that a process left beside the trace: trace.<pid>.pickle, trace.rank<R>.<pid>.pickle.
struct LeftSnapshot {
  std::string path;
  int64_t pid = 0;
  int rank = -1;  // none
  bool operator==(const LeftSnapshot&) const = default;
};

// Those changed at or after `since_ns` (1970, nanoseconds), by pid.
std::vector<LeftSnapshot> LeftSnapshots(const std::string& trace, int64_t since_ns);

// Joins each snapshot into the trace of its process, and prints that; `verbose`: the parts that
// aren't joined, too. A snapshot that can't be joined stays as it is, with the command that shows
// it.
void JoinSnapshots(const std::vector<std::string>& traces,
                   const std::vector<LeftSnapshot>& snapshots, bool verbose);

}  // namespace graphkit
