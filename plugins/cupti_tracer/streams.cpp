#include "plugins/cupti_tracer/streams.h"

#include <algorithm>
#include <utility>

namespace graphkit {
namespace {

// The keys of default streams are made of their context or thread. Handles are addresses below
// 2^48, so these never meet one.
uint64_t StreamKey(const ThreadState& thread, uint64_t stream, uint64_t context) {
  if (stream == kLegacyStream) return context * 4 + (uint64_t{1} << 62) + 1;
  if (stream == kPerThreadStream) {
    return static_cast<uint64_t>(thread.tid) * 4 + (uint64_t{1} << 63) + 2;
  }
  return stream;
}

}  // namespace

StreamInfo& Streams::Add(uint64_t key, const Call& call, bool announced) {
  End(key, Source::kDerived);  // its destruction has not returned yet, or went unseen
  StreamInfo& stream = *streams_.Insert(key, std::make_unique<StreamInfo>());
  stream.id = StreamId(next_stream_++);
  bool legacy = call.stream == kLegacyStream, per_thread = call.stream == kPerThreadStream;
  StreamRecord r;
  r.id = stream.id;
  r.row.handle = legacy ? 0 : call.stream;
  if (legacy) r.row.kind = StreamKind::kLegacyDefault;
  if (per_thread) r.row.kind = StreamKind::kPerThreadDefault;
  r.row.non_blocking = announced && (call.flags & 1) != 0;
  if (announced) r.row.priority = call.priority;
  r.row.device = static_cast<int16_t>(call.device);
  if (!announced && !legacy && !per_thread) r.source = Source::kDerived;
  records_.Write(r);
  return stream;
}

StreamInfo& Streams::Of(const ThreadState& thread, const Call& call) {
  const uint64_t key = StreamKey(thread, call.stream, call.context);
  if (auto* known = streams_.Find(key)) return **known;
  return Add(key, call, false);
}

StreamId Streams::KnownIdOf(const ThreadState& thread, uint64_t handle, uint64_t context) const {
  const StreamInfo* known = Find(StreamKey(thread, handle, context));
  return known != nullptr ? known->id : StreamId();
}

const StreamInfo* Streams::Find(uint64_t handle) const {
  const auto* known = streams_.Find(handle);
  return known != nullptr ? known->get() : nullptr;
}

void Streams::End(uint64_t handle, Source source) {
  auto* stream = streams_.Find(handle);
  if (stream == nullptr) return;
  Leave(**stream);
  records_.WriteEnd<StreamDestroyedRecord>((*stream)->id, source);
  streams_.Erase(handle);
}

EventInfo& Streams::EventOf(uint64_t handle) {
  if (auto* known = events_.Find(handle)) return **known;
  EventInfo& event = *events_.Insert(handle, std::make_unique<EventInfo>());
  event.id = EventId(next_event_++);
  EventRecord r;
  r.id = event.id;
  r.row.handle = handle;
  records_.Write(r);
  return event;
}

const EventInfo* Streams::FindEvent(uint64_t handle) const {
  const auto* known = events_.Find(handle);
  return known != nullptr ? known->get() : nullptr;
}

void Streams::EndEvent(uint64_t handle, Source source) {
  const EventInfo* event = FindEvent(handle);
  if (event == nullptr) return;
  records_.WriteEnd<EventDestroyedRecord>(event->id, source);
  events_.Erase(handle);
}

void Streams::RecordEvent(const Call& call, ThreadId thread, StreamInfo& stream, uint64_t handle,
                          const Frontier* entries) {
  EventInfo& event = EventOf(handle);
  event.capture = stream.capture != nullptr ? stream.capture->id : CaptureId();
  event.seen_done.reset();
  event.entries.clear();
  if (stream.capture != nullptr) event.entries = entries != nullptr ? *entries : stream.frontier;
  EventRecordRecord r;
  r.row.stream = stream.id;
  r.row.event = event.id;
  r.row.capturing = stream.capture != nullptr;
  if (!r.row.capturing) r.row.thread = thread;
  r.row.has_entries = entries != nullptr;
  if (entries != nullptr) r.row.entries = records_.Add(*entries);
  records_.Write(call, r);
}

void Streams::RecordExternal(const Call& call, const StreamInfo& stream) {
  EventRecordRecord r;
  r.row.stream = stream.id;
  r.row.event = EventOf(call.event).id;
  r.row.capturing = r.row.external = true;
  records_.Write(call, r);
}

void Streams::Wait(const Call& call, StreamInfo& stream, bool external) {
  const EventInfo& event = EventOf(call.event);
  CaptureInfo* capture = external ? nullptr : CaptureById(event.capture);
  if (capture != nullptr) {
    if (stream.capture != capture) JoinCapture(stream, *capture);
    Join(stream.frontier, event.entries);
  }
  EventWaitRecord r;
  r.row.stream = stream.id;
  r.row.event = event.id;
  r.row.capturing = stream.capture != nullptr;
  r.row.external = external;
  records_.Write(call, r);
}

void Streams::Sync(const ThreadState& thread, ThreadId id, const Call& call) {
  EventInfo* event = call.kind == CallKind::kEventSync ? &EventOf(call.event) : nullptr;
  StreamInfo* stream = call.kind == CallKind::kStreamSync ? &Of(thread, call) : nullptr;
  if (event != nullptr && std::exchange(event->seen_done, id) == id) return;  // polled on
  SyncRecord r;
  r.row.thread = id;
  r.row.kind = event    ? StreamOpKind::kEventSync
               : stream ? StreamOpKind::kStreamSync
                        : StreamOpKind::kDeviceSync;
  if (stream) r.row.stream = stream->id;
  if (event) r.row.event = event->id;
  records_.Write(call, r);
}

void Streams::SyncStream(const Call& call, ThreadId thread, StreamId stream) {
  SyncRecord r;
  r.row.thread = thread;
  r.row.kind = StreamOpKind::kStreamSync;
  r.row.stream = stream;
  records_.Write(call, r);
}

// Captures: what begins and ends them, who joins them, and what breaks them.

bool IsCaptureError(int32_t error) {
  constexpr int32_t kFirst = 900;             // cudaErrorStreamCaptureUnsupported
  constexpr int32_t kLast = 907;              // cudaErrorCapturedEvent
  constexpr int32_t kRecaptureFailure = 918;  // cudaErrorGraphRecaptureFailure
  return (error >= kFirst && error <= kLast) || error == kRecaptureFailure;
}

void Streams::JoinCapture(StreamInfo& stream, CaptureInfo& capture) {
  Leave(stream);
  stream.capture = &capture;
  capture.streams.push_back(&stream);
}

void Streams::Leave(StreamInfo& stream) {
  if (stream.capture == nullptr) return;
  std::erase(stream.capture->streams, &stream);
  if (stream.capture->origin == &stream) stream.capture->origin = nullptr;
  stream.capture = nullptr;
  stream.frontier.clear();
}

CaptureInfo* Streams::CaptureById(CaptureId id) const {
  auto found = std::ranges::find_if(captures_, [id](auto& open) { return open->id == id; });
  return id && found != captures_.end() ? found->get() : nullptr;
}

CaptureInfo* Streams::CaptureInto(GraphId graph) const {
  auto found =
      std::ranges::find_if(captures_, [graph](auto& open) { return open->graph == graph; });
  return found != captures_.end() ? found->get() : nullptr;
}

CaptureInfo* Streams::CaptureOf(const ThreadState& thread, uint64_t stream) const {
  if (captures_.empty()) return nullptr;
  const StreamInfo* known = Find(stream);
  if (known != nullptr && known->capture != nullptr) return known->capture;
  auto found =
      std::ranges::find_if(captures_, [&](auto& open) { return open->thread == thread.id; });
  return thread.id && found != captures_.end() ? found->get() : nullptr;
}

CaptureInfo* Streams::CaptureHit(const ThreadState& thread, uint64_t stream, int32_t error) const {
  CaptureInfo* own = CaptureOf(thread, stream);
  if (own != nullptr || captures_.empty() || !IsCaptureError(error)) return own;
  auto global = std::ranges::find_if(captures_,
                                     [](auto& open) { return open->mode == CaptureMode::kGlobal; });
  return global != captures_.end() ? global->get() : captures_.back().get();
}

void Streams::Begin(const Call& call, StreamInfo& origin, ThreadId thread, GraphId graph,
                    uint64_t graph_handle, const Frontier& entries) {
  CaptureInfo& capture = *captures_.emplace_back(std::make_unique<CaptureInfo>());
  capture.id = CaptureId(next_capture_++);
  capture.graph = graph;
  capture.graph_handle = graph_handle;
  capture.origin = &origin;
  capture.thread = thread;
  capture.mode = static_cast<CaptureMode>(call.mode % 3);
  JoinCapture(origin, capture);
  CaptureBeginRecord r;
  r.id = capture.id;
  r.row.graph = graph;
  r.row.origin = origin.id;
  r.row.thread = thread;
  r.row.mode = capture.mode;
  r.row.recapture = call.recapture;
  records_.Write(call, r);
  if (call.dependencies.empty()) return;
  Join(origin.frontier, entries);
  WriteFrontier(origin.id, StreamOpKind::kSetFrontier, origin.frontier);
}

void Streams::Close(const CaptureInfo& capture) {
  for (StreamInfo* joined : capture.streams) {
    joined->capture = nullptr;
    joined->frontier.clear();
  }
  std::erase_if(captures_, [&capture](auto& open) { return open.get() == &capture; });
}

void Streams::WriteFrontier(StreamId stream, StreamOpKind kind, const Frontier& entries) {
  FrontierRecord r;
  r.row.stream = stream;
  r.row.kind = kind;
  r.row.entries = records_.Add(entries);
  records_.Write(r);
}

void Streams::UpdateFrontier(const ThreadState& thread, const Call& call, const Frontier& entries) {
  StreamInfo& stream = Of(thread, call);
  const bool set = (call.flags & 1) != 0;
  WriteFrontier(stream.id, set ? StreamOpKind::kSetFrontier : StreamOpKind::kAddToFrontier,
                entries);
  if (set) stream.frontier.clear();
  Join(stream.frontier, entries);
}

void Streams::Advance(const Call& call, StreamInfo& stream, NodeId node, bool edge_data) {
  stream.frontier.assign(1, {node, kPortDefault, 0});
  const KernelWork& work = call.kernel;
  if (work.programmatic_event != 0) {
    const uint8_t port = work.at_block_start ? kPortLaunchCompletion : kPortProgrammatic;
    const Frontier entries{{node, port, static_cast<uint8_t>(EdgeType::kProgrammatic)}};
    RecordEvent(call, {}, stream, work.programmatic_event, edge_data ? &entries : nullptr);
  }
  if (work.completion_event != 0) {
    const Frontier entries{{node, kPortLaunchCompletion, 0}};
    RecordEvent(call, {}, stream, work.completion_event, &entries);
  }
}

}  // namespace graphkit
