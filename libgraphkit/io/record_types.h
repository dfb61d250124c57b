// Every type of record that a trace file may hold, the most frequent first.
#pragma once

#include "libgraphkit/io/record_graph.h"
#include "libgraphkit/io/record_memory.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/io/record_stream.h"

namespace graphkit {

template <typename... Records>
struct RecordList {};

using RecordTypes =
    RecordList<NodeRecord, EdgeRecord, AllocRecord, FreeRecord, FreeRequestedRecord,
               FreeCompletedRecord, RecordStreamRecord, EventRecordRecord, EventWaitRecord,
               LaunchRecord, WorkRecord, StackRecord, KernelRecord, ThreadRecord, NvtxPushRecord,
               NvtxPopRecord, FailureRecord, DroppedRecord, NoteRecord, BlankRecord, ProcessRecord,
               ClockRecord, StreamRecord, StreamDestroyedRecord, EventRecord, EventDestroyedRecord,
               CaptureBeginRecord, CaptureEndRecord, FrontierRecord, SyncRecord, GraphRecord,
               GraphDestroyedRecord, NodeSetRecord, NodeDestroyedRecord, EdgeRemovedRecord,
               ExecRecord, ExecDestroyedRecord, ExecUpdatedRecord, PoolRecord, PoolDestroyedRecord,
               SegmentRecord, SegmentFreedRecord, EndRecord>;

}  // namespace graphkit
