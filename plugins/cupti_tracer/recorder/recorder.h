// The tracer's logic: CUDA calls and graph events in, records out, in the order of the calls. Knows
// nothing of CUPTI. One caller at a time: the glue holds a lock around every call of it.
//
// A driver call comes as Enter, the graph events that happened inside it (collected in the thread's
// state), and Exit. What is known of streams, memory, graphs and execs is in a part of its own,
// which writes the records of it; what a call means to several of them is here:
//
//     Call ──► Recorder ──► Streams, Graphs, Execs, Memory, Threads ──► Records
//                 │ node by node: NodeDraft, Work (WorkReader), Copies
//
// A handle belongs to what was made with it until the call that takes that away returns
// (recorder_ends.cpp), or another thread is given the same handle, whichever is first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cupti_tracer/calls/calls.h"
#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/recorder/communicators.h"
#include "plugins/cupti_tracer/recorder/copies.h"
#include "plugins/cupti_tracer/recorder/eager_counts.h"
#include "plugins/cupti_tracer/recorder/eager_sites.h"
#include "plugins/cupti_tracer/recorder/eager_watch.h"
#include "plugins/cupti_tracer/recorder/execs.h"
#include "plugins/cupti_tracer/recorder/graphs.h"
#include "plugins/cupti_tracer/recorder/host_content.h"
#include "plugins/cupti_tracer/recorder/memory.h"
#include "plugins/cupti_tracer/recorder/streams.h"
#include "plugins/cupti_tracer/recorder/threads.h"
#include "plugins/cupti_tracer/recorder/work.h"

namespace graphkit {

inline constexpr int32_t kNotReady = 600;  // cudaErrorNotReady: an answer, not a failure

class Recorder {
 public:
  // `eager`: records all work that is submitted outside of captures, beside what EagerWatch names.
  explicit Recorder(RecordSink& sink, bool eager = false) : records_(sink), eager_(eager) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The driver is older than CUDA 12.3: no edge has data, whatever a launch's attributes are.
  void WithoutEdgeData() { edge_data_ = false; }

  // Only calls that take something away need one.
  void Enter(ThreadState& thread, const Call& call);
  void Exit(ThreadState& thread, const Call& call);

  // The same as Exit for one more launch of an exec, outside of captures, with less to do. False:
  // it is a first one, or asks for more, and is left to Exit.
  bool Relaunch(ThreadState& thread, const GraphLaunch& launch);

  // The runtime call that is in flight on the thread returned an error. `call` has name and time.
  void RuntimeFailed(ThreadState& thread, const Call& call, int32_t error);

  // The driver begins to destroy a graph, by whatever call: from now on its handle and those of its
  // nodes may be given out again.
  void OnGraphDestroyed(ThreadState& thread, uint64_t graph);

  // Events that came outside of any call that the glue knows: nodes of graphs that are known.
  void LooseEvents(ThreadState& thread, uint64_t time);

  // True if the exec is known and hasn't been launched.
  bool IsUnlaunched(uint64_t exec) { return execs_.IsUnlaunched(exec); }
  bool capturing() const { return streams_.capturing(); }
  // True if a launch of the exec may copy from or to a thread's stack, and the stack's extent was
  // recorded for few of its launches so far: reading it takes longer than a launch.
  bool AsksStack(uint64_t exec) {
    const ExecInfo* known = execs_.Find(exec);
    return known != nullptr && AsksStack(*known);
  }
  // May be asked at any time, without the lock.
  const EagerWatch& watch() const { return watch_; }
  const RecordCounts& counts() const { return records_.counts(); }

  // The last record: recording stops, though the process goes on.
  void WriteStop(std::string_view why) { records_.WriteNote(why, true); }

  // Work outside of captures that isn't recorded piece by piece. Counted without the lock; what
  // that leaves to do is done here.
  EagerCounts& eager_counts() { return eager_counts_; }
  void SettleCount(ThreadState& thread, const Call& call, EagerCounts::Outcome counted);
  void WriteCounts(uint64_t time, bool always = false) {
    eager_counts_.Write(records_, time, always);
  }

  // The same, by kernel and place.
  EagerSites& eager_sites() { return eager_sites_; }
  ThreadSites& SitesOf(ThreadState& thread) {
    if (thread.sites == nullptr) thread.sites = &eager_sites_.AddThread(threads_.IdOf(thread));
    return *thread.sites;
  }
  void WriteSites(uint64_t time) { eager_sites_.Write(records_, time); }

  // The parts that record other sources than driver calls.
  Memory& memory() { return memory_; }
  Threads& threads() { return threads_; }
  StackTable& stacks() { return stacks_; }
  WorkReader& work_reader() { return work_reader_; }
  Communicators& communicators() { return communicators_; }

  // How many things of the program's are known that may end: streams, events, captures, graphs,
  // nodes, execs, blocks, segments and pools.
  size_t known() const { return streams_.size() + graphs_.size() + execs_.size() + memory_.size(); }

 private:
  static constexpr size_t kCacheLine = 64;

  // Handlers of successful calls (call_kinds.def).
  using Handler = void(ThreadState& thread, const Call& call);
  Handler Nothing, OnStreamCreate, OnEventCreate, OnEventRecord, OnEventWait, OnSync,
      OnBeginCapture, OnEndCapture, OnUpdateDependencies, OnWork, OnAlloc, OnPhysical,
      OnPhysicalRelease, OnShare, OnUnreserve, OnPoolCreate, OnPoolMet, OnTensorMap, OnNodeSet,
      OnUpdatable, OnInstantiate, OnExecUpdate, OnGraphLaunch, OnGraphUpload;

  static bool AsksStack(const ExecInfo& exec) {
    constexpr uint32_t kMostTold = 100;
    return exec.copies_stack && exec.stack_tops < kMostTold;
  }
  void SwapSpace(ThreadState& thread);
  void DiscardGraph(const CaptureInfo& capture);

  // recorder_failures.cpp
  void Failed(ThreadState& thread, const Call& call);
  FailedGraph FailedOn(const Call& call);
  void WriteFailure(ThreadState& thread, const Call& call, int32_t error, CaptureInfo* capture);
  std::string ArgumentsText(std::span<const CallArgument> arguments);
  std::string ArgumentText(const CallArgument& argument);

  // recorder_ends.cpp
  uint32_t IdOf(Taken what, uint64_t handle);
  void EndTaken(ThreadState& thread, const Call& call, bool succeeded);
  void End(ThreadState& thread, const Call& call, const Going& going);

  // recorder_events.cpp
  void ApplyEvents(ThreadState& thread, const Call& call);
  void ApplyByGraph(ThreadState& thread, const Call& call);
  void ApplyEvent(ThreadState& thread, const Call& call, const GraphEvent& event);
  void OnGraphCreated(const Call& call, Copies::Graph& made);
  void OnDependency(ThreadState& thread, const Call& call, const GraphEvent& event);

  // recorder_nodes.cpp
  void Flush(ThreadState& thread, const Call& call);
  GraphInfo& GraphOf(const ThreadState& thread, const Call& call);
  StreamInfo* CapturingStream(const ThreadState& thread, const Call& call, const GraphInfo& graph);
  void WriteNode(ThreadState& thread, const Call& call, GraphInfo& graph, StreamInfo* stream);
  uint32_t HostReadOf(const Call& call);
  uint32_t HostReadOfDraft(const Call& call, const Copies::Clone* clone);
  void TakeWork(const Call& call, uint64_t place, NodeInfo* changed, ExecInfo* exec);
  void ReadWork(ThreadState& thread, const Call& call);
  static uint64_t DetailsOf(const Call& call);
  enum class HostWait : uint8_t { kNone, kBefore, kAfter };  // the work
  HostWait HostWaits(const Call& call) const;
  void WriteInherited(const Call& call, NodeInfo& node, const NodeInfo& original);
  void WriteUpdatable(const Call& call, NodeInfo& node);
  void WriteClaimed(const Call& call, NodeId parent, const std::vector<Copies::Graph>& claimed);
  FrontierEntry EdgeData(const Call& call, StreamInfo* stream, uint64_t from, uint64_t to,
                         const NodeInfo& producer, NodeKind consumer);

  alignas(kCacheLine) EagerWatch watch_;
  alignas(kCacheLine) Records records_;
  Threads threads_{records_};
  StackTable stacks_{records_};
  EagerCounts eager_counts_;
  EagerSites eager_sites_;
  Streams streams_{records_};
  Memory memory_{records_, streams_, watch_};
  HostContent host_content_{records_, memory_};
  Graphs graphs_{records_};
  Execs execs_{records_};
  Communicators communicators_{records_};
  WorkReader work_reader_{records_, memory_, communicators_};

  // The call at hand.
  bool eager_;
  bool edge_data_ = true;
  Copies copies_{graphs_, execs_};
  NodeDraft draft_;
  Work work_;
  uint32_t next_failure_ = 0;
};

// "cudaMalloc_v3020" and "cuStreamBeginCapture_v2_ptsz" without version and stream suffixes.
std::string_view PlainCallName(std::string_view name);

}  // namespace graphkit
