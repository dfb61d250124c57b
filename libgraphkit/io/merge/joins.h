// The joins of a merge, each for itself.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/trace/record_rows.h"

namespace graphkit {

// Collects what isn't joined, by what it is.
class NotJoinedList {
 public:
  void Add(const std::string& what, const std::string& example);
  std::vector<NotJoined> Take() { return std::move(list_); }

 private:
  std::vector<NotJoined> list_;
};

// A kernel's name without templates, arguments and namespaces' mangling: "square" of
// "_Z6squarePfi" and of "void square<4>(float*, int)".
std::string BaseName(std::string_view kernel);

// Gives nodes their mean durations; returns how many got one.
size_t JoinTimes(std::span<const NodeTime> times, const std::map<uint64_t, NodeId>& by_tool_id,
                 Trace* trace, NotJoinedList* not_joined);

// Gives nodes their launch stacks, where they have none, and their labels; returns how many.
size_t JoinOrigins(std::span<const NodeOrigin> origins, const MovedSource& moved,
                   const std::map<uint64_t, NodeId>& by_tool_id, Trace* trace,
                   NotJoinedList* not_joined);

// By tools id: the nodes of graphs that a tracer recorded, in their execs and in the graphs
// themselves.
void AddTracedToolIds(const Trace& trace, std::map<uint64_t, NodeId>* by_tool_id);

// Blocks that came from the snapshot: those allocated while a graph was captured belong to it.
size_t JoinCaptures(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined);

// A block that its segment was got for takes over the stack that tells a library's workspace, which
// the tracer saw (plugins/cupti_tracer/stacks/call_stack.h): its own names the line that first
// needed it.
void JoinWorkspaces(std::span<const BlockId> blocks, Trace* trace);

// Accesses of nodes to segments become accesses to the blocks inside; how many are to the
// snapshot's (`blocks`, ascending).
size_t JoinAccesses(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined);

}  // namespace graphkit
