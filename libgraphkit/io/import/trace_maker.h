// What the importers make traces with: a place for each record, ids by what other tools name things
// with, and times.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// cudaErrorMemoryAllocation (driver_types.h), for tools that say "out of memory" in words.
inline constexpr int32_t kErrorMemoryAllocation = 2;

class TraceMaker {
 public:
  // The process record takes the first place.
  TraceMaker();

  Trace trace;
  // The tools id (graph id << 32 | node id, as CUPTI has it) of nodes that have one.
  std::map<NodeId, uint64_t> tool_ids;

  // The place of the next record.
  Seq Next() { return trace.records++; }
  // The empty text has no id.
  StringId Intern(std::string_view text) {
    return text.empty() ? StringId() : trace.strings.Intern(text);
  }

  // Times are in ns; `first` is at or before all of them. Without it no times are kept. `unix`:
  // they count from 1970.
  void SetBegin(int64_t first, bool unix);
  // Of the last record. `expected`: how many more records there will be, about.
  void SetTime(int64_t time, size_t expected = 0);
  // Of the records from `first` on.
  void SetTimes(Seq first, int64_t time, size_t expected);

  StreamId Stream(uint32_t device, uint64_t handle);
  StreamId NamedStream(uint32_t device, std::string_view name);
  ThreadId Thread(int64_t tid);
  KernelId Kernel(std::string_view name);
  EventId Event(uint64_t handle);
  uint32_t Shape(const LaunchShape& shape);  // index in Trace::shapes
  PoolId AddPool(PoolKind kind, std::string_view name = {}, uint64_t handle = 0);
  GraphId AddGraph(std::string_view name, uint64_t tool_id = 0);
  BlockId AddBlock(Block block);  // gives it its place
  NodeId AddNode(Node node);      // the same
  void AddEdge(NodeId from, NodeId to, Source source, uint8_t from_port = 0,
               EdgeType type = EdgeType::kDefault);
  // A free that is requested and completed at once.
  void Free(BlockId block, StreamId stream = {});
  // Makes the trace incomplete.
  void Note(std::string_view text);

 private:
  int64_t begin_ns_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, StreamId> streams_;
  std::map<std::pair<uint32_t, StringId>, StreamId> named_streams_;
  std::map<int64_t, ThreadId> threads_;
  std::map<StringId, KernelId> kernels_;
  std::map<uint64_t, EventId> events_;
  std::map<std::array<uint32_t, 7>, uint32_t> shapes_;
};

}  // namespace graphkit
