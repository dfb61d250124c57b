// A finding of a check: data with a stable id. Presenters turn it into text, JSON, SARIF, ….
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class Severity : uint8_t { kNote, kWarning, kError };

// The damage that a finding is about, the least costly for a user first.
enum class Harm : uint8_t {
  kStyle,    // the program could be simpler, or faster
  kMemory,   // more memory than needed
  kLeak,     // memory or objects that are never given back
  kResults,  // wrong results, or a program that fails
};

// The assumption of a proof of order.
enum class Assumption : uint8_t {
  kOrder,         // the graph's edges, nothing else
  kTorchStreams,  // uses end at the free on the allocation stream and the recorded streams
  kArguments,     // kernels touch only blocks whose address stands in their arguments
};

// One sentence that supports a finding, and what it speaks of.
struct Evidence {
  std::string text;
  std::vector<NodeId> nodes = {};
  std::vector<EdgeId> edges = {};
  std::vector<BlockId> blocks = {};
  StackId stack = {};
  bool operator==(const Evidence&) const = default;
};

// A line of the program.
struct PlaceFrame {
  std::string function;  // as recorded: possibly mangled
  std::string file;      // source file, or the object when the source isn't known
  uint32_t line = 0;     // 1-based; 0: unknown
  auto operator<=>(const PlaceFrame&) const = default;
};

// A place of the program that has to do with a finding.
struct FindingPlace {
  PlaceFrame line;                      // the program's own; else the innermost whose line is known
  std::string about = {};               // "node 7 (Reduce) reads block 4 (12 MiB)"
  std::vector<PlaceFrame> frames = {};  // of the first place: innermost first, CUDA's own left out
  bool operator==(const FindingPlace&) const = default;
};

struct Finding {
  std::string check;  // kebab-case id; names docs/checks/<id>.md
  Severity severity = Severity::kWarning;
  Harm harm = Harm::kResults;
  std::string message;      // one line: what is so, and with which numbers
  std::string advice = {};  // one line: what to change in the program
  Bytes bytes = 0;          // what it costs; 0: not a matter of bytes
  GraphId graph = {};
  std::vector<NodeId> nodes = {};
  std::vector<BlockId> blocks = {};
  std::vector<StreamId> streams = {};
  std::vector<Evidence> evidence = {};
  Assumption assumes = Assumption::kOrder;
  // Of a report's findings (analysis/checks/places.h): the place to act on, then the other sides,
  // such as the second line of a race. None: no stack is known.
  std::vector<FindingPlace> places = {};
  std::string logical = {};       // "graph 0 step/node 3"; "trace" when it names nothing
  std::string missing_line = {};  // why no source line is known, and what would name one
  bool operator==(const Finding&) const = default;

  PlaceFrame line() const { return places.empty() ? PlaceFrame() : places.front().line; }
};

// The order in which all views show findings: the most severe first; then by harm, the most costly
// first; then by bytes; else as they are.
bool ComesFirst(const Finding& a, const Finding& b);

// Findings as every view shows them. Rows have the findings of one check at the same lines, such as
// those of four graphs; without lines, those that say the same but for numbers. A group has the
// rows of one check.
//
//     missing-order   step.cu:17 and step.cu:18     findings 0, 2, 4, 6    ×4
//                     step.cu:30 and step.cu:31     finding 1
//     exec-leak       step.cu:44                    findings 3, 5          ×2
struct FindingRow {
  std::vector<uint32_t> findings;  // places in the list; the first one is shown
  size_t count() const { return findings.size(); }
  bool operator==(const FindingRow&) const = default;
};
struct FindingGroup {
  std::vector<FindingRow> rows;
  bool operator==(const FindingGroup&) const = default;
};

// Groups in the order of their first findings, and so are the rows of each. What differs in `apart`
// is kept apart; empty: all are alike in it.
std::vector<FindingGroup> GroupFindings(std::span<const Finding* const> findings,
                                        std::span<const uint32_t> apart = {});
std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings);

std::string Times(uint64_t count);  // " (×4)"; of one ""

const char* SeverityName(Severity severity);  // "note", "warning", "error"

}  // namespace graphkit
