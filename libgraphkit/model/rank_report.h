// The collective operations that a trace has, in their order: what is kept of it to compare it with
// the traces of the communicators' other ranks.
//
//     programs   0: graph 0 'step': all_reduce, all_gather      1: graph 2 'eval': broadcast
//     captured   0, 1
//     executed   0 × 100, 1, 0 × 100
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

struct RankOperation {
  Collective what;        // its seq is 0
  NodeId node;            // none: work outside of graphs
  uint32_t place = 0;     // in RankCollectives::places
  std::string body = {};  // of conditionals, in which it is: "else", "while, case 2"
  bool operator==(const RankOperation&) const = default;
};

// The operations of a graph, those of child graphs and of conditionals' bodies where the nodes that
// hold them stand; or one of work outside of graphs.
struct RankProgram {
  GraphId graph;          // none: outside of graphs
  std::string name = {};  // the graph's; may be empty
  std::vector<RankOperation> operations = {};
  bool operator==(const RankProgram&) const = default;
};

// A program, so many times in a row.
struct RankRun {
  uint32_t program = 0;
  uint32_t times = 1;
  bool operator==(const RankRun&) const = default;
};

struct RankCollectives {
  std::vector<Communicator> communicators = {};
  std::vector<PlaceFrame> places = {};  // the first: not known
  std::vector<RankProgram> programs = {};
  std::vector<RankRun> captured = {};  // the graphs that were captured
  std::vector<RankRun> executed = {};  // launches, and work outside of graphs where it was recorded
  bool works = false;                  // whether all of such work was recorded
  bool operator==(const RankCollectives&) const = default;
};

// Summaries of many traces that are read together, as the ranks of one job, and the result of a
// comparison of them.

// Figures of a trace, by their names in the JSON. Those of graphs are of the graph that has most of
// it, but for what is never freed and what could be reused: these are sums.
inline constexpr std::array kRankFigures = {
    "asked_bytes",
    "peak_live_bytes",
    "deferred_bytes",
    "never_freed_bytes",
    "reuse_bytes",
    "recorded_extent_bytes",
    "lower_bound_bytes",
    "graphs",
    "nodes",
    "edges",
    "blocks",
    "launches",
    "errors",
    "warnings",
};
inline constexpr size_t kRankFigureCount = kRankFigures.size();
constexpr size_t FigureIndex(std::string_view name) {
  return static_cast<size_t>(std::ranges::find(kRankFigures, name) - kRankFigures.begin());
}

// Figures of a graph, by their names in the JSON of analyze.
inline constexpr std::array kRankGraphFigures = {
    "nodes",
    "edges",
    "streams",
    "blocks",
    "total_bytes",
    "peak_live_bytes",
    "deferred_bytes",
    "lower_bound_bytes",
    "never_freed_bytes",
    "reuse_bytes",
};

// Nothing: unknown.
using RankFigure = std::optional<uint64_t>;

struct RankGraph {
  std::string name;
  uint32_t ordinal = 0;  // among the graphs of that name
  GraphContent content = {};
  std::array<RankFigure, kRankGraphFigures.size()> figures{};
  bool operator==(const RankGraph&) const = default;
};

// Findings of one check at one place of the program.
struct RankFinding {
  std::string fingerprint;  // as of a baseline: equal in all ranks
  std::string check;
  Severity severity = Severity::kWarning;
  std::string message;  // of the first of them
  uint64_t count = 0;
  Bytes bytes = 0;  // of all of them
  bool operator==(const RankFinding&) const = default;
};

struct RankSummary {
  std::string trace;  // its file, as the user named it
  DeviceKind device = DeviceKind::kImported;
  std::vector<std::string> incomplete_because = {};  // empty: complete
  std::string program = {};
  uint64_t structure = 0;  // of all graphs' contents, in any order: equal where these are
  std::array<RankFigure, kRankFigureCount> figures{};
  std::vector<RankGraph> graphs = {};
  std::vector<RankFinding> findings = {};  // by fingerprint
  bool operator==(const RankSummary&) const = default;

  bool complete() const { return incomplete_because.empty(); }
};

// A figure over all ranks that know it. The ranks named are the first ones.
struct FigureSpread {
  uint64_t least = 0, median = 0, most = 0;  // the lower one of two medians
  uint32_t least_rank = 0, most_rank = 0;
  uint64_t sum = 0;
  uint32_t unknown = 0;  // ranks that don't know it
  bool operator==(const FigureSpread&) const = default;
};

// `before` is what is usual, `after` what is so here.
struct RankFigureChange {
  std::string graph;  // "graph 0 step"; empty: of the trace
  FigureChange change;
  bool operator==(const RankFigureChange&) const = default;
};

// Ranks that are alike, and in what they differ from those of the first group.
struct RankGroup {
  std::vector<uint32_t> ranks;
  bool same_structure = true;
  std::vector<std::string> graphs_missing = {}, graphs_added = {};
  std::vector<RankFigureChange> figures = {};
  std::vector<FindingChange> findings = {};
  bool operator==(const RankGroup&) const = default;
};

// One finding in all ranks that have it.
struct SharedFinding {
  RankFinding finding;          // counts and bytes of all ranks
  std::vector<uint32_t> ranks;  // that have it
  uint32_t most_rank = 0;       // with the most bytes
  Bytes most_bytes = 0;
};

struct RankReport {
  std::string folder = {};  // that all files are in, as named; ends with /; may be empty
  std::vector<RankSummary> ranks = {};   // as given
  std::vector<uint32_t> by_memory = {};  // ranks, the worst first: most memory, then most findings
  std::array<std::optional<FigureSpread>, kRankFigureCount> spread{};  // nothing: unknown
  std::vector<RankGroup> groups = {};                                  // the largest first
  std::vector<SharedFinding> findings = {};  // the most severe first, then by bytes in one rank

  uint32_t worst() const { return by_memory.front(); }
};

}  // namespace graphkit
