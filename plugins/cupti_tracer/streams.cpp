#include "plugins/cupti_tracer/streams.h"

namespace graphkit {
namespace {

// The keys of default streams are made of their context or thread. Handles are addresses below
// 2^48, so these never meet one.
uint64_t StreamKey(const ThreadState& thread, const Call& call) {
  if (call.stream == kLegacyStream) return call.context * 4 + (uint64_t{1} << 62) + 1;
  if (call.stream == kPerThreadStream) {
    return static_cast<uint64_t>(thread.tid) * 4 + (uint64_t{1} << 63) + 2;
  }
  return call.stream;
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
  const uint64_t key = StreamKey(thread, call);
  if (auto* known = streams_.Find(key)) return **known;
  return Add(key, call, false);
}

StreamId Streams::KnownIdOf(const ThreadState& thread, const Call& call) const {
  const StreamInfo* known = Find(StreamKey(thread, call));
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

void Streams::RecordEvent(const Call& call, StreamInfo& stream, uint64_t handle,
                          const Frontier* entries) {
  EventInfo& event = EventOf(handle);
  event.capture = stream.capture != nullptr ? stream.capture->id : CaptureId();
  event.seen_done = false;
  event.entries.clear();
  if (stream.capture != nullptr) event.entries = entries != nullptr ? *entries : stream.frontier;
  EventRecordRecord r;
  r.row.stream = stream.id;
  r.row.event = event.id;
  r.row.capturing = stream.capture != nullptr;
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

void Streams::Sync(const ThreadState& thread, const Call& call) {
  EventInfo* event = call.kind == CallKind::kEventSync ? &EventOf(call.event) : nullptr;
  StreamInfo* stream = call.kind == CallKind::kStreamSync ? &Of(thread, call) : nullptr;
  if (event != nullptr && std::exchange(event->seen_done, true)) return;  // polled on
  SyncRecord r;
  r.row.kind = event    ? StreamOpKind::kEventSync
               : stream ? StreamOpKind::kStreamSync
                        : StreamOpKind::kDeviceSync;
  if (stream) r.row.stream = stream->id;
  if (event) r.row.event = event->id;
  records_.Write(call, r);
}

}  // namespace graphkit
