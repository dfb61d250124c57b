// Every type of record that a trace file may hold, the most frequent first.
#pragma once

#include <array>
#include <type_traits>

#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"

namespace graphkit {

template <typename... Records>
struct RecordList {
  static constexpr size_t kCount = sizeof...(Records);
};

using RecordTypes =
    RecordList<NodeRecord, EdgeRecord, AllocRecord, FreeRecord, FreeRequestedRecord,
               FreeCompletedRecord, RecordStreamRecord, EventRecordRecord, EventWaitRecord,
               LaunchRecord, WorkRecord, EagerCountRecord, EagerSiteRecord, StackRecord,
               KernelRecord, CommunicatorRecord, CommunicatorDestroyedRecord, ThreadRecord,
               NvtxPushRecord, NvtxPopRecord, FailureRecord, ImportedRecord, HistoryRecord,
               HistoryEventsRecord, DroppedRecord, NoteRecord, BlankRecord, ProcessRecord,
               ClockRecord, StreamRecord, StreamDestroyedRecord, EventRecord, EventDestroyedRecord,
               CaptureBeginRecord, CaptureEndRecord, FrontierRecord, SyncRecord, GraphRecord,
               GraphDestroyedRecord, NodeSetRecord, NodeDestroyedRecord, EdgeRemovedRecord,
               ExecRecord, ExecDestroyedRecord, ExecUpdatedRecord, ExecMemoryRecord, StackTopRecord,
               PoolRecord, PoolDestroyedRecord, MemorySharedRecord, HostContentRecord,
               SegmentRecord, SegmentFreedRecord, EndRecord>;

// A table with a row for each type: Row<Record>(), in the order of RecordTypes.
template <template <typename> typename Row, typename... Records>
constexpr auto RecordTable(RecordList<Records...>) {
  return std::array{Row<Records>::value...};
}

template <typename Record, typename... Records>
constexpr size_t RecordIndex(RecordList<Records...>) {
  size_t index = 0;
  (void)((std::is_same_v<Record, Records> || (++index, false)) || ...);
  return index;
}
template <typename Record>
inline constexpr size_t kRecordIndex = RecordIndex<Record>(RecordTypes());

}  // namespace graphkit
