// The result of reading another tool's file. Each format has one file in this folder, and a row in
// file_format.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// How long a node of a graph ran, summed over its launches.
struct NodeTime {
  uint64_t tool_id = 0;   // graph id << 32 | node id, as CUPTI has it
  std::string name;       // of the kernel; empty: none
  uint64_t launches = 0;  // with a duration
  uint64_t total_ns = 0;
  bool operator==(const NodeTime&) const = default;
};

// PyTorch's record of a graph's node: where it was launched, and how it was marked.
struct NodeOrigin {
  uint64_t tool_id = 0;
  StackId stack = {};
  std::string label = {};
  bool operator==(const NodeOrigin&) const = default;
};

// A file as a trace, and keys for joining it with other files.
struct Imported {
  Trace trace;
  std::map<NodeId, uint64_t> tool_ids;  // of nodes that have one
  std::vector<NodeTime> times;          // profiles: of graphs' nodes
  std::vector<NodeOrigin> origins;      // torch-nodes
};

// "1 graph, 2 nodes, 1 edge".
std::string CountsOf(const Trace& trace);

// Makes traces for the importers: a place for each record, ids by what other tools name things
// with, and times.

// cudaErrorMemoryAllocation (driver_types.h), for tools that say "out of memory" in words.
inline constexpr int32_t kErrorMemoryAllocation = 2;

class TraceMaker {
 public:
  // The process record takes the first place.
  TraceMaker();

  Trace trace;

  // The place of the next record.
  Seq Next() { return trace.records++; }
  // The empty text has no id.
  StringId Intern(std::string_view text) {
    return text.empty() ? StringId() : trace.strings.Intern(text);
  }

  // Times are in ns; `first` is at or before all of them. Without it no times are kept.
  // `since_1970`: they count from 1970.
  void SetBegin(int64_t first, bool since_1970);
  // Of the last record. `expected`: how many more records there will be, about.
  void SetTime(int64_t time, size_t expected = 0);
  // Of the records from `first` on.
  void SetTimes(Seq first, int64_t time, size_t expected);

  // A second request for the same thing gives the same id.
  StreamId Stream(uint32_t device, uint64_t handle);
  StreamId NamedStream(uint32_t device, std::string_view name);
  ThreadId Thread(int64_t tid);
  EventId Event(uint64_t handle);
  PoolId AddPool(PoolKind kind, std::string_view name = {}, uint64_t handle = 0);
  GraphId AddGraph(std::string_view name, uint64_t tool_id = 0);
  BlockId AddBlock(const Block& block);                     // gives it its place
  NodeId AddNode(const Node& node, uint64_t tool_id = 0);   // the same; 0: it has none
  StackId AddStack(const std::vector<StackFrame>& frames);  // innermost first
  void SetLabel(NodeId node, std::string_view text);        // of the node that was added last
  void SetKernel(Node& node, std::string_view name, const LaunchShape& shape);
  // `data`: its port and type.
  void AddEdge(NodeId from, NodeId to, Source source, const Edge& data = {});
  // A free that is requested and completed at once.
  void Free(BlockId block, StreamId stream = {});
  // Of a log of addresses. What it lacks the other end of is counted, and noted by NoteUnmatched;
  // `what` has such gaps: "the log".
  void AllocateAt(const Block& block);
  void FreeAt(Address address, StreamId stream = {});
  void NoteUnmatched(std::string_view what);
  // Makes the trace incomplete.
  void Note(std::string_view text);

  size_t live() const { return live_.size(); }  // of AllocateAt, not freed

  // The trace, with one line about it.
  Imported Finish(std::string_view summary);

 private:
  uint32_t Shape(const LaunchShape& shape);  // index in Trace::shapes
  // Appends a row that begins here.
  template <typename IdType, typename Column, typename T = typename Column::value_type>
  IdType Add(Column& column, Seq T::*place, T row) {
    row.*place = Next();
    column.push_back(row);
    return IdType(column.size() - 1);
  }

  // The same where `id` is none yet.
  template <typename IdType, typename Column, typename T = typename Column::value_type>
  IdType Once(IdType& id, Column& column, Seq T::*place, const T& row) {
    return id ? id : id = Add<IdType>(column, place, row);
  }

  int64_t begin_ns_ = 0;
  std::map<NodeId, uint64_t> tool_ids_;  // of nodes that have one
  std::map<std::pair<uint32_t, uint64_t>, StreamId> streams_;
  std::map<std::pair<uint32_t, StringId>, StreamId> named_streams_;
  std::map<int64_t, ThreadId> threads_;
  std::map<StringId, KernelId> kernels_;
  std::map<uint64_t, EventId> events_;
  std::map<std::array<uint32_t, 7>, uint32_t> shapes_;
  std::unordered_map<Address, BlockId> live_;
  size_t unmatched_ = 0;
};

// A graph as another tool lists it: nodes in any order, edges by their numbers. It becomes part of
// a trace with the nodes in an order that the edges allow, close to the listed one.

// The kind that tools call so: "MemAlloc", "event_record", "Child graph node"; kUnknown: none.
NodeKind KindNamed(std::string_view name);
// A name in upper case, without spaces and underscores, and without "node" at its end.
std::string WordOf(std::string_view name);

struct DraftNode {
  NodeKind kind = NodeKind::kUnknown;
  ConditionalType conditional = ConditionalType::kUnknown;  // conditional nodes
  std::string kernel;                                       // its name; kernel nodes
  LaunchShape shape;
  uint64_t tool_id = 0;  // 0: unknown
  uint64_t event = 0;    // its handle; event nodes
  std::string label;     // of a host node, the function that it calls
};

struct DraftEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  uint8_t from_port = kPortDefault;
  uint8_t to_port = 0;
  EdgeType type = EdgeType::kDefault;
  auto operator<=>(const DraftEdge&) const = default;
};

struct GraphDraft {
  std::string name;
  uint64_t tool_id = 0;
  std::vector<DraftNode> nodes;
  std::vector<DraftEdge> edges;
};

struct DraftedGraph {
  GraphId graph;
  std::vector<NodeId> nodes;  // by their numbers in the draft
};

// An error when the edges go round in a circle. An edge that is listed twice is made once.
Result<DraftedGraph> AddDraft(const GraphDraft& draft, TraceMaker& make);

}  // namespace graphkit
