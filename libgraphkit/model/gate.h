// The limits of a CI gate: plain values, from the command line or a checked-in file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/date.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Findings that are looked at and accepted. What is given must agree, what is left empty
// agrees with anything.
struct Suppression {
  std::string check;                 // the check's id; required
  std::string reason;                // for people; required
  std::string trace = {};            // the trace's file name
  std::string graph = {};            // the graph's name
  std::string source = {};           // a part of "file:line function" of a frame of its stack
  std::optional<Date> expires = {};  // the last day on which it holds
  bool operator==(const Suppression&) const = default;
};

struct GateConfig {
  // Findings that fail the gate: those of at least this severity, and those of these checks.
  std::optional<Severity> fail_on_severity = Severity::kWarning;
  std::vector<std::string> fail_on_checks = {};

  // By their names in kGateLimits: bytes, counts, ratios and shares of 1.
  std::map<std::string, double, std::less<>> limits = {};

  double allow_increase = 0;  // over the baseline: 0.02 allows 2 %
  std::vector<Suppression> suppressions = {};
  Date today = {};  // suppressions that expired before are void
  bool operator==(const GateConfig&) const = default;
};

// A limit, as a row: its rule's name, which is its key in the settings with underscores.
enum class MeasureUnit : uint8_t { kBytes, kCount, kRatio, kShare };
struct GateLimit {
  const char* name;
  MeasureUnit unit;
  const char* description;
};
inline constexpr GateLimit kGateLimits[] = {
    {"max-deferred", MeasureUnit::kBytes, "deferred bytes of each graph"},
    {"max-peak", MeasureUnit::kBytes,
     "peak live bytes of each graph; of a snapshot the peak in use"},
    {"max-idle", MeasureUnit::kBytes, "reserved bytes that aren't in use at the end"},
    // At the upper end of their interval.
    {"max-exec-bytes", MeasureUnit::kBytes, "device memory of executables"},
    {"max-leaks", MeasureUnit::kCount, "leaks"},  // of checks named *-leak, without notes
    {"max-reserved-over-allocated", MeasureUnit::kRatio, "peak reserved over peak allocated bytes"},
    {"min-coverage", MeasureUnit::kShare, "kernel launches that run in graphs"},
};

// The subject of the gate and its verdict: values that every presenter of `graphkit check` draws
// from. A subject keeps all that is needed of a trace, so that the trace itself can go.

// Bytes that a line of the program allocated.
struct LineBytes {
  PlaceFrame at;  // its file with the folder that it lies in: equal on all machines
  Bytes bytes = 0;
  bool operator==(const LineBytes&) const = default;
};

// One trace before the gate.
struct GateSubject {
  std::string trace = {};  // its file, as the user named it
  Report report = {};
  std::vector<uint64_t> leaks = {};  // of report.findings: execs, graphs, blocks … that leaked
  std::vector<GraphContent> contents = {};  // of report.graphs; empty: unknown
  // Of report.graphs: who has the bytes that are live at the peak, the most first. Empty: unknown.
  std::vector<std::vector<LineBytes>> peak_lines = {};
  // MemoryMoments; nothing: unknown.
  std::optional<Bytes> peak_reserved_bytes = {};
  std::optional<Bytes> peak_outside_graphs_bytes = {};
  std::optional<Bytes> peak_allocated_bytes = {};
  std::optional<Bytes> idle_bytes = {};         // at the end
  std::optional<Bytes> peak_in_use_bytes = {};  // nothing, too: the trace holds no memory
  // Kernel launches in replays over all of them (analysis/launches/coverage.h); nothing: not known,
  // and why.
  std::optional<double> coverage = {};
  std::string unknown_coverage = {};
  RankCollectives collectives = {};
  bool operator==(const GateSubject&) const = default;
};

// The figures of an earlier run. The trace is known by name, graphs by content and name,
// findings by graph and fingerprint: what they say, without ids and numbers.
struct BaselineGraph {
  std::string name;
  uint32_t ordinal = 0;                      // among the graphs of that name
  std::optional<GraphContent> content = {};  // none: a baseline of version 1
  Bytes peak_live_bytes = 0;
  Bytes deferred_bytes = 0;
  Bytes never_freed_bytes = 0;
  std::vector<LineBytes> peak_lines = {};  // the most first; none: not known
  bool launched = false;                   // false, too, in a baseline that doesn't say
  bool operator==(const BaselineGraph&) const = default;
};

struct BaselineFinding {
  std::string check;
  std::string fingerprint;  // 16 hexadecimal digits
  uint64_t count = 0;
  Bytes bytes = 0;     // of all of them
  uint64_t leaks = 0;  // execs, graphs, blocks … of all of them; 0: no leak, or not known
  // The first of the trace's graphs that are equal to the finding's one: equal graphs have their
  // findings together. None: of no graph, or a baseline of version 1.
  std::optional<uint32_t> graph = {};
  bool operator==(const BaselineFinding&) const = default;
};

struct BaselineTrace {
  std::string trace;                                    // the file's name without folders
  std::optional<Bytes> peak_outside_graphs_bytes = {};  // older files: with graph memory
  std::vector<BaselineGraph> graphs = {};
  std::vector<BaselineFinding> findings = {};  // by graph and fingerprint
  bool operator==(const BaselineTrace&) const = default;
};

struct Baseline {
  std::vector<BaselineTrace> traces = {};
  bool operator==(const Baseline&) const = default;
};

// The gate's decision on a finding.
enum class FindingStatus : uint8_t {
  kFails,       // counts, and fails the gate
  kReported,    // counts, and isn't asked for by fail-on
  kKnown,       // was in the baseline
  kSuppressed,  // accepted by a suppression
};

struct JudgedFinding {
  uint32_t trace = 0;    // index of the subject
  uint32_t finding = 0;  // in its report
  FindingStatus status = FindingStatus::kReported;
  std::string fingerprint = {};
  std::string suppression_reason = {};
  bool operator==(const JudgedFinding&) const = default;
};

// A figure that was held against a limit: the most that it may be, of a rule named min-… the least.
// One that isn't known doesn't pass.
struct GateMeasure {
  std::string rule;  // "max-deferred", "baseline-peak", …
  uint32_t trace = 0;
  std::string subject = {};  // "graph 0 step"; empty: the trace
  MeasureUnit unit = MeasureUnit::kBytes;
  std::optional<double> value = 0;  // nothing: unknown
  double limit = 0;
  bool passed = true;
  bool operator==(const GateMeasure&) const = default;
};

// Why the gate didn't pass.
struct GateReason {
  enum class Kind : uint8_t {
    kFinding,  // exit code 1
    kBudget,
    kBaseline,
    kBlind,  // exit code 3: something that is needed to judge is missing
  };
  Kind kind = Kind::kFinding;
  std::optional<uint32_t> trace = {};  // index of the subject
  std::string text = {};
  bool operator==(const GateReason&) const = default;
};

struct GateVerdict {
  int exit_code = 0;  // 0 passed, 1 failed, 3 refused: the gate would be blind
  std::vector<GateReason> reasons = {};
  std::vector<JudgedFinding> findings = {};  // by status, then in the order of all views
  std::vector<FindingGroup> groups = {};     // of these, each of one status
  std::vector<GateMeasure> measures = {};
  std::vector<std::string> notes = {};  // expired and unused suppressions
  bool operator==(const GateVerdict&) const = default;

  bool passed() const { return exit_code == 0; }
};

// A check that ran.
struct GateCheck {
  std::string id;
  std::string summary = {};  // one line
  std::string page = {};     // what it means and what to do, Markdown; empty: there is none
};

// All of one run, for presenters.
struct GateRun {
  std::vector<GateSubject> subjects = {};
  std::vector<GateCheck> checks = {};
  GateVerdict verdict = {};
  bool accepts = false;          // what was found goes into the baseline that is saved
  std::string source_root = {};  // files below it are shown relative to it; may be empty
  std::string settings = {};     // the file that the limits are from; empty: the command line
};

GRAPHKIT_NAMES(FindingStatus, "failing", "reported", "known", "suppressed")
GRAPHKIT_NAMES(GateReason::Kind, "finding", "budget", "baseline", "blind")
GRAPHKIT_NAMES(MeasureUnit, "bytes", "count", "ratio", "share")

}  // namespace graphkit
