// Streams and events, and the captures that are open on streams: which stream is in which capture,
// and what its next node will depend on.
//
// A stream is in one capture at most, and in its list of streams. An event that was recorded in a
// capture holds the frontier of its stream at that time.
//
// Programs time their kernels with events by the hundred thousand. So a record outside of captures
// waits until the next operation in any stream that is written, which needs what came before it. An
// event that is recorded again or destroyed before leaves nothing, nor do waits of the host that
// say nothing new.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/recorder/frontier.h"

namespace graphkit {

struct CaptureInfo;

struct StreamInfo {
  StreamId id;
  CaptureInfo* capture = nullptr;
  StreamFrontier frontier;
};

struct CaptureInfo {
  static constexpr uint32_t kNoFailure = 0xffffffffu;
  CaptureId id;
  GraphId graph;
  uint64_t graph_handle = 0;
  StreamInfo* origin = nullptr;
  ThreadId thread;
  CaptureMode mode = CaptureMode::kGlobal;
  uint32_t failure = kNoFailure;
  GraphId discarded;  // its graph, once the driver has destroyed it
  std::vector<StreamInfo*> streams;
};

struct EventInfo {
  uint64_t handle = 0;
  uint32_t number = 0;  // among all events that were met
  EventId id;           // none: not written, as nothing has asked for it
  CaptureId capture;    // that it was recorded in; none: outside of any
  Frontier entries;
  std::optional<ThreadId> seen_done;  // since it was recorded; by the thread that saw it last
  // Of its last record outside of captures:
  EventRecordRecord record;
  uint64_t operations = 0;  // in streams, that were written before it
  uint64_t waits = 0;       // its place among the records that wait to be written; 0: it doesn't
};

// What a thread knows to be done: so many of the written operations.
struct SeenDone {
  ThreadId thread;
  uint64_t operations = 0;
};

class Streams {
 public:
  explicit Streams(Records& records) : records_(records) {}

  // The stream of a call, made known if it isn't. Default streams are one per context or thread.
  StreamInfo& Of(const ThreadState& thread, const Call& call);
  StreamId IdOf(const ThreadState& thread, const Call& call) {
    return call.stream == kNoStream ? StreamId() : Of(thread, call).id;
  }
  // Of a stream that is recorded already.
  StreamId KnownIdOf(const ThreadState& thread, uint64_t handle, uint64_t context) const;
  const StreamInfo* Find(uint64_t handle) const;
  void Create(const Call& call) { Add(call.stream, call, true); }
  void End(uint64_t handle, Source source);

  EventInfo& EventOf(uint64_t handle);  // it is written, if it wasn't
  const EventInfo* FindEvent(uint64_t handle) const;
  void EndEvent(uint64_t handle, Source source);

  // `entries`: what the event waits for, where that isn't the stream's frontier.
  void RecordEvent(const Call& call, ThreadId thread, StreamInfo& stream, uint64_t event,
                   const Frontier* entries = nullptr);
  // `external`: the record is, or the wait, a node.
  void RecordExternal(const Call& call, const StreamInfo& stream);
  void Wait(const Call& call, StreamInfo& stream, bool external);
  void Sync(const ThreadState& thread, ThreadId id, const Call& call);
  void SyncStream(const Call& call, ThreadId thread, StreamId stream);

  // Opens a capture into a graph.
  void Begin(const Call& call, StreamInfo& origin, ThreadId thread, GraphId graph,
             uint64_t graph_handle, const Frontier& entries);
  // Closes everything that is open; its streams leave the capture.
  void Close(const CaptureInfo& capture);
  void UpdateFrontier(const ThreadState& thread, const Call& call, const Frontier& entries);
  // A node of the call takes the place of the stream's frontier; a launch may record events
  // besides.
  void Advance(const Call& call, StreamInfo& stream, NodeId node, bool edge_data);

  bool capturing() const { return !captures_.empty(); }
  CaptureId next_capture() const { return CaptureId(next_capture_); }
  // The open capture into a graph; null: none.
  CaptureInfo* CaptureInto(GraphId graph) const;
  // The capture that a call is made for: its stream's, or else its thread's.
  CaptureInfo* CaptureOf(const ThreadState& thread, uint64_t stream) const;
  // The capture that an error is about.
  CaptureInfo* CaptureHit(const ThreadState& thread, uint64_t stream, int32_t error) const;
  GraphId CapturedGraph(const ThreadState& thread, const Call& call) const {
    const CaptureInfo* capture = CaptureOf(thread, call.stream);
    return capture != nullptr ? capture->graph : GraphId();
  }
  void JoinCapture(StreamInfo& stream, CaptureInfo& capture);

  // How many of all of these are known.
  size_t size() const { return streams_.size() + events_.size() + captures_.size(); }

 private:
  StreamInfo& Add(uint64_t key, const Call& call, bool announced);
  void Leave(StreamInfo& stream);
  CaptureInfo* CaptureById(CaptureId id) const;
  void WriteFrontier(StreamId stream, StreamOpKind kind, const Frontier& entries);
  EventInfo& MeetEvent(uint64_t handle);
  void Declare(EventInfo& event);
  void Forget(EventInfo& event);
  void WriteWaiting();
  bool IsSeen(ThreadId thread, StreamId stream, uint64_t operations) const;
  bool SaysNothing(const Call& call, ThreadId thread, const EventInfo* event,
                   const StreamInfo* stream) const;
  void NoteSeen(ThreadId thread, StreamId stream, uint64_t operations);

  Records& records_;
  HandleMap<std::unique_ptr<StreamInfo>> streams_;
  HandleMap<std::unique_ptr<EventInfo>> events_;
  std::vector<std::unique_ptr<CaptureInfo>> captures_;  // open ones
  std::map<uint64_t, EventInfo*> waiting_;  // whose records wait to be written, in their order
  uint64_t waited_ = 0;
  SeenDone seen_;  // in all streams
  std::vector<SeenDone> seen_by_stream_;
  uint32_t next_stream_ = 0, next_event_ = 0, next_capture_ = 0, events_met_ = 0;
};

// True if an error means that a call isn't allowed in a capture, or that a capture is broken.
bool IsCaptureError(int32_t error);

}  // namespace graphkit
