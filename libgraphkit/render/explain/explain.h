// What `graphkit explain` says of a file: one screen, and as JSON.
//
//     PyTorch memory snapshot · 1 device · 5163 events · Python stacks · no OOM event · no CUDA
//     graphs
//
//       peak reserved  13.2 GiB  ████████████████  216 segments
//       …
//       FINDINGS            of a trace with graphs: those of one check together
//       HELD AT THE PEAK (13.0 GiB)                           share  blocks
//       GRAPHS              what each of them keeps
//       WORTH A LOOK
//        1 …
//       Next
//         graphkit report FILE -o report.html    …
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/explain/finding_groups.h"
#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/file_about.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/snapshot_info.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// Everything that is said of one file; what it doesn't have is empty.
struct Explanation {
  std::string file;  // as the user named it
  FileAbout about = {};
  std::vector<MemoryAccount> memory = {};  // of each device, the most in use first
  std::vector<FindingGroup> findings = {};
  std::vector<GraphSummary> graphs = {};
  std::string unknown_memory = {};  // why the sizes of its memory aren't known; empty: they are
};

struct ExplainStyle {
  TextStyle text;
  bool stacks = false;  // below each holder the whole stack of its largest block
};

// `trace`: that the explanation is of; one without anything for other files.
void RenderExplanation(const Explanation& explanation, const Trace& trace,
                       const ExplainStyle& style, std::ostream& out);

// Schema "graphkit-explain", version 1 (docs/cli.md).
void RenderExplanationJson(const Explanation& explanation, std::ostream& out);

// What a file that was read as a trace is.
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
