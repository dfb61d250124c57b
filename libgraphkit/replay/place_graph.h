// A graph's blocks, placed by one who is told of each malloc, use on another stream and free.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/replay/graph_replayer.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The rows of Trace::block_streams by block.
inline Grouped StreamsOfBlocks(const Ran& trace) {
  return Group(trace.block_streams, trace.blocks.size(),
               [](const BlockStream& use) { return use.block; });
}

// Sets the offsets of the graph's blocks, in their pools' arenas. An error: the block without
// memory.
template <typename Placer>
Result<void> PlaceGraph(const Facts& facts, std::span<const PoolBlocks> pools,
                        const Grouped& streams, Placer* placer, std::vector<Bytes>* offsets) {
  for (const MemoryEvent& call : EventsOf(facts, pools, &streams)) {
    if (call.kind == MemoryEvent::Kind::kFree) {
      placer->Free(call);
    } else if (call.kind == MemoryEvent::Kind::kRecordStream) {
      placer->RecordStream(call);
    } else {
      const Bytes size = RoundedSize(facts.trace[call.block]);
      const std::optional<Bytes> offset = placer->Malloc(call, size);
      if (!offset || *offset + size < *offset) {
        return Error{.message = "no memory for block " + std::to_string(call.block.value)};
      }
      (*offsets)[call.block.index()] = *offset;
    }
  }
  return {};
}

}  // namespace graphkit
