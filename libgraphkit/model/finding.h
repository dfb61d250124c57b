// A finding of a check: data with a stable id. Presenters turn it into text, JSON, SARIF, ….
#pragma once

#include <cstdint>
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
  bool operator==(const Finding&) const = default;
};

// The order in which all views show findings: the most severe first; then by harm, the most costly
// first; then by bytes; else as they are.
bool ComesFirst(const Finding& a, const Finding& b);

const char* SeverityName(Severity severity);  // "note", "warning", "error"

}  // namespace graphkit
