// Replayed work of graphs matched with what was captured, and its time by the place in the program
// that launched it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/profile.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

enum class MatchedBy : uint8_t {
  kNothing,
  kId,     // both profiles have the node's id
  kName,   // kernel name (and grid, where both have it) and order within the graph
  kCount,  // order alone, of as many: the capture's profile names no kernels
};
inline constexpr size_t kMatchedByCount = 4;

// Why work of a graph has no place.
enum class NotMatched : uint8_t {
  kNoCapture,  // no capture that holds the batch has this kernel sequence or one near to it
  kSeveral,    // several captures have it, and the order of the launches doesn't decide
  kAmbiguous,  // kernels of the launch are missing, repeated or moved, this one may be several
  kOtherName,  // its node id belongs to another kernel
};
inline constexpr size_t kNotMatchedCount = 4;

struct WorkTime {
  uint64_t count = 0;  // kernels, copies and fills that ran
  uint64_t ns = 0;
  bool operator==(const WorkTime&) const = default;
};

// Captures of one batch size, or of one file.
struct AttributedSize {
  uint64_t size = 0;  // 0: not known
  std::string source;
  uint64_t replays = 0;  // of the graph that was launched most
  WorkTime matched;
  bool operator==(const AttributedSize&) const = default;
};

struct AttributedRow {
  std::vector<std::string> key;   // of the table's columns
  std::vector<WorkTime> by_size;  // as Attribution::sizes
  WorkTime total;
  std::optional<Bytes> bytes = {};  // that its nodes touch in one replay of each
  bool operator==(const AttributedRow&) const = default;
};

// By module without the numbers of its parts, line, operator with shapes, collective, kernel, and
// all of them.
enum class AttributedTable : uint8_t { kModule, kLine, kOperator, kCollective, kKernel, kAll };
inline constexpr size_t kAttributedTables = 6;

struct Attribution {
  std::vector<AttributedSize> sizes;
  std::array<std::vector<AttributedRow>, kAttributedTables> tables;  // most time first
  std::array<WorkTime, kMatchedByCount> matched;  // by MatchedBy; [0] is all that isn't
  std::array<WorkTime, kNotMatchedCount> not_matched;
  WorkTime with_line, with_module;  // of what is matched
  uint64_t launches = 0;
  uint64_t eager = 0;
  std::vector<uint32_t> captured_of;  // by Profile::replayed: in Profile::captured, or ~0
  std::vector<WorkTime> times;        // by Profile::captured
  std::vector<StringId> ran_as;       // by Profile::captured: its kernel's name in the replays
  std::vector<uint32_t> size_of;      // by Profile::graphs: in `sizes`

  WorkTime all() const;
};

Attribution Attribute(const Profile& profile);

// Adds the graphs of a trace as captures: their nodes that do work, with line, label, collective
// and the memory that they touch. `tool_ids`: what other tools call its nodes.
void AddTraceCaptures(const Ran& trace, const std::string& name,
                      const std::map<NodeId, uint64_t>& tool_ids, Profile* profile);

}  // namespace graphkit
