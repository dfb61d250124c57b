#include "plugins/cupti_tracer/recorder/streams.h"

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
  WriteWaiting();  // records in it are before its end
  Leave(**stream);
  records_.WriteEnd<StreamDestroyedRecord>((*stream)->id, source);
  streams_.Erase(handle);
}

EventInfo& Streams::MeetEvent(uint64_t handle) {
  if (auto* known = events_.Find(handle)) return **known;
  EventInfo& event = *events_.Insert(handle, std::make_unique<EventInfo>());
  event.handle = handle;
  event.number = events_met_++;
  return event;
}

EventInfo& Streams::EventOf(uint64_t handle) {
  EventInfo& event = MeetEvent(handle);
  Declare(event);
  return event;
}

void Streams::Declare(EventInfo& event) {
  if (event.id) return;
  event.id = EventId(next_event_++);
  EventRecord r;
  r.id = event.id;
  r.row.handle = event.handle;
  records_.WriteAside(r);
}

void Streams::Forget(EventInfo& event) {
  if (event.waits != 0) waiting_.erase(std::exchange(event.waits, 0));
}

void Streams::WriteWaiting() {
  for (const auto& [place, event] : std::exchange(waiting_, {})) {
    event->waits = 0;
    Declare(*event);
    event->record.row.event = event->id;
    records_.WriteAside(event->record);
  }
}

const EventInfo* Streams::FindEvent(uint64_t handle) const {
  const auto* known = events_.Find(handle);
  return known != nullptr ? known->get() : nullptr;
}

void Streams::EndEvent(uint64_t handle, Source source) {
  auto* known = events_.Find(handle);
  if (known == nullptr) return;
  EventInfo& event = **known;
  Forget(event);
  if (event.id) records_.WriteEnd<EventDestroyedRecord>(event.id, source);
  events_.Erase(handle);
}

void Streams::RecordEvent(const Call& call, ThreadId thread, StreamInfo& stream, uint64_t handle,
                          const Frontier* entries) {
  EventInfo& event = MeetEvent(handle);
  Forget(event);
  event.capture = stream.capture != nullptr ? stream.capture->id : CaptureId();
  event.seen_done.reset();
  event.entries.clear();
  if (stream.capture != nullptr)
    event.entries = entries != nullptr ? *entries : stream.frontier.entries();
  EventRecordRecord r;
  r.time = call.time;
  r.row.stream = stream.id;
  r.row.capturing = stream.capture != nullptr;
  if (!r.row.capturing) {
    r.row.thread = thread;
    event.record = r;
    event.operations = records_.operations();
    event.waits = ++waited_;
    waiting_.emplace(event.waits, &event);
    records_.WriteFirst([this] { WriteWaiting(); });
    return;
  }
  Declare(event);
  r.row.event = event.id;
  r.row.has_entries = entries != nullptr;
  if (entries != nullptr) r.row.entries = records_.Add(*entries);
  records_.Write(r);
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
    stream.frontier.Join(event.entries);
  }
  EventWaitRecord r;
  r.row.stream = stream.id;
  r.row.event = event.id;
  r.row.capturing = stream.capture != nullptr;
  r.row.external = external;
  records_.Write(call, r);
}

// Is it known to the thread that so many operations are done, as far as the stream goes?
bool Streams::IsSeen(ThreadId thread, StreamId stream, uint64_t operations) const {
  const auto covers = [&](const SeenDone& seen) {
    return seen.thread == thread && seen.operations >= operations;
  };
  const bool known = stream.index() < seen_by_stream_.size();
  return operations == 0 || covers(seen_) || (known && covers(seen_by_stream_[stream.index()]));
}

// Is a wait of the host for nothing but what the thread knows to be done? One for more than an
// event is told anyway, unless that has the records of events written that wait for that.
bool Streams::SaysNothing(const Call& call, ThreadId thread, const EventInfo* event,
                          const StreamInfo* stream) const {
  if (call.kind == CallKind::kEventSync) {
    const bool outside = event != nullptr && event->record.row.stream && !event->capture;
    return outside && IsSeen(thread, event->record.row.stream, event->operations);
  }
  if (waiting_.empty() && !call.polls) return false;
  return IsSeen(thread, stream != nullptr ? stream->id : StreamId(), records_.operations());
}

void Streams::NoteSeen(ThreadId thread, StreamId stream, uint64_t operations) {
  if (stream.index() >= seen_by_stream_.size()) seen_by_stream_.resize(stream.index() + 1);
  seen_by_stream_[stream.index()] = {thread, operations};
}

void Streams::Sync(const ThreadState& thread, ThreadId id, const Call& call) {
  const bool of_event = call.kind == CallKind::kEventSync;
  EventInfo* event = of_event ? &MeetEvent(call.event) : nullptr;
  StreamInfo* stream = call.kind == CallKind::kStreamSync ? &Of(thread, call) : nullptr;
  if (event != nullptr && std::exchange(event->seen_done, id) == id) return;  // polled on
  if (SaysNothing(call, id, event, stream)) return;
  const uint64_t before = records_.operations();
  SyncRecord r;
  r.row.thread = id;
  r.row.kind = event    ? StreamOpKind::kEventSync
               : stream ? StreamOpKind::kStreamSync
                        : StreamOpKind::kDeviceSync;
  if (stream) r.row.stream = stream->id;
  if (event) Declare(*event);
  if (event) r.row.event = event->id;
  records_.Write(call, r);
  const uint64_t now = records_.operations();
  if (stream != nullptr) {
    NoteSeen(id, stream->id, now);
  } else if (event == nullptr) {
    seen_ = {id, now};
  } else if (event->record.row.stream && !event->capture) {
    NoteSeen(id, event->record.row.stream, event->operations == before ? now : event->operations);
  }
}

void Streams::SyncStream(const Call& call, ThreadId thread, StreamId stream) {
  if (IsSeen(thread, stream, records_.operations())) return;
  SyncRecord r;
  r.row.thread = thread;
  r.row.kind = StreamOpKind::kStreamSync;
  r.row.stream = stream;
  records_.Write(call, r);
  NoteSeen(thread, stream, records_.operations());
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
  origin.frontier.Join(entries);
  WriteFrontier(origin.id, StreamOpKind::kSetFrontier, origin.frontier.entries());
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
  stream.frontier.Join(entries);
}

void Streams::Advance(const Call& call, StreamInfo& stream, NodeId node, bool edge_data) {
  stream.frontier.Set({node, kPortDefault, 0});
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
