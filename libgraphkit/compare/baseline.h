// Baselines: figures and findings that a later run is compared with.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/gate.h"

namespace graphkit {

// Figures and findings of `subjects`, less the findings that are suppressed in `verdict`.
Baseline MakeBaseline(const std::vector<GateSubject>& subjects, const GateVerdict& verdict);

// The key of each subject in a baseline: its file's name, with as many folders before it as are
// needed to tell the subjects apart.
std::vector<std::string> TraceKeys(const std::vector<GateSubject>& subjects);

// The part of a baseline that a subject is compared with.
struct BaselineMatch {
  static constexpr uint32_t kNoGraph = 0xffffffffu;

  const BaselineTrace* trace = nullptr;  // null: the baseline has no entry for the subject
  std::vector<uint32_t> graphs = {};     // of each graph of the report its place in trace->graphs,
                                         // or kNoGraph
};

// Of each subject: the entry of its key, or, where both sides have one trace only, that one; and in
// it the graphs that are its graphs, by content, then by name, then in order.
std::vector<BaselineMatch> MatchBaseline(const Baseline& baseline,
                                         const std::vector<GateSubject>& subjects);

// The key of a finding in a baseline.
struct FindingKey {
  std::optional<uint32_t> graph = {};  // as in BaselineFinding; kNoGraph: it has no such graph
  // The check, the name of the graph, and the source function and file: it stays the same when ids,
  // sizes and lines move.
  std::string fingerprint = {};
  auto operator<=>(const FindingKey&) const = default;
};

// Of each finding of the subject. `match` may be without a trace.
std::vector<FindingKey> FindingKeys(const GateSubject& subject, const BaselineMatch& match);

// "/a/b.json" → "b.json".
std::string_view FileName(std::string_view path);

// Number of graphs of the same name before each graph of the report.
std::vector<uint32_t> GraphOrdinals(const Report& report);

}  // namespace graphkit
