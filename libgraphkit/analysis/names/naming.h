// How findings speak of things: short, with the id of the trace.
#pragma once

#include <span>
#include <string>

#include "libgraphkit/model/trace.h"

namespace graphkit {

std::string NameOf(const Trace& trace, GraphId graph);  // "graph 0 'decode'"
std::string NameOf(const Trace& trace, NodeId node);    // "node 7 (Reduce)", "node 3 (memcpy)"
std::string NameOf(const Trace& trace, const EagerWork& work);  // "Reduce", "a memcpy"
std::string NameOf(const Trace& trace, StreamId stream);        // "stream 1 'side'"
std::string NameOf(const Trace& trace, BlockId block);          // "block 4 (12 MiB)"
std::string NameOf(const Trace& trace, ThreadId thread);        // "thread 0 'main'"

// "count 1048576, bf16, communicator 1 of 2 ranks": what the node or the work at a place of the
// trace does together with other ranks; of a group of calls the first, and how many more. Empty
// for one that doesn't.
std::string CollectivesText(const Trace& trace, Seq seq);

// "Produce triggers, and may write after that; Consume never waits": of an edge that isn't full.
// A name: of a node, or of a kernel.
std::string EarlyStartText(const EarlyStart& start, const std::string& producer,
                           const std::string& consumer);

// "64x2x1": a grid, or a block of threads.
std::string SizesText(const uint32_t (&sizes)[3]);

// "node 7 (Reduce) was captured on stream 1", "node 7 (Reduce) was added to graph 2".
std::string CapturedOn(const Trace& trace, NodeId node);

// "block 4", "blocks 4, 5 and 6", "blocks 4, 5, 6 and 12 more".
std::string ListOf(std::span<const BlockId> blocks);
std::string ListOf(const Trace& trace, std::span<const StreamId> streams);

// "1 block", "2 blocks".
std::string Count(uint64_t count, const char* thing);

}  // namespace graphkit
