// The summary of one file: kind, holders of memory, findings, and next commands.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/analysis/explain/finding_groups.h"
#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/file_about.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/snapshot_info.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Parts that the file doesn't have are empty.
struct Explanation {
  std::string file;  // as the user named it
  FileAbout about = {};
  std::vector<MemoryAccount> memory = {};  // of each device, the most in use first
  std::vector<FindingGroup> findings = {};
  std::vector<GraphSummary> graphs = {};
  std::string unknown_memory = {};  // why the sizes of its memory aren't known; empty: they are
};

// A file that was read as a trace.
struct ExplainInput {
  std::string file;
  std::string format = {};                // ImportFormat::name; empty: a trace of graphkit
  std::vector<std::string> summary = {};  // what was read, as the importer says it
  const SnapshotInfo* snapshot = nullptr;
  std::vector<MemoryAccount> memory = {};  // AccountForMemory
  const Report* report = nullptr;          // null: it has no graphs
};
Explanation Explain(const ExplainInput& input, const Trace& trace);

}  // namespace graphkit
