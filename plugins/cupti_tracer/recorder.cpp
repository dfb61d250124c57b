#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

// Default streams are one per context or per thread: their keys are made of those. Handles are
// addresses below 2^48, so these never meet one.
uint64_t StreamKey(const ThreadState& thread, const Call& call) {
  if (call.stream == kLegacyStream) return call.context * 4 + (uint64_t{1} << 62) + 1;
  if (call.stream == kPerThreadStream) {
    return static_cast<uint64_t>(thread.tid) * 4 + (uint64_t{1} << 63) + 2;
  }
  return call.stream;
}

}  // namespace

std::string_view PlainCallName(std::string_view name) {
  for (size_t at = name.find('_', 2); at != std::string_view::npos; at = name.find('_', at + 1)) {
    std::string_view rest = name.substr(at);
    bool version = rest.size() > 2 && rest[1] == 'v' && rest[2] >= '0' && rest[2] <= '9';
    if (version || rest.starts_with("_ptsz") || rest.starts_with("_ptds")) {
      return name.substr(0, at);
    }
  }
  return name;
}

void Recorder::WriteNote(std::string_view text) {
  NoteRecord r;
  r.text = text;
  Write(r);
}

ThreadId Recorder::ThreadOf(ThreadState& thread) {
  if (thread.id) return thread.id;
  thread.id = ThreadId(next_thread_++);
  ThreadRecord r;
  r.id = thread.id;
  r.row.tid = thread.tid;
  r.row.name = values_.Add(thread.name);
  Write(r);
  return thread.id;
}

Recorder::StreamInfo* Recorder::AddStream(uint64_t key, const Call& call, bool announced) {
  EndStream(key, Source::kDerived);  // its destruction has not returned yet, or went unseen
  auto& stream = streams_.Insert(key, std::make_unique<StreamInfo>());
  stream->id = StreamId(next_stream_++);
  bool legacy = call.stream == kLegacyStream, per_thread = call.stream == kPerThreadStream;
  StreamRecord r;
  r.id = stream->id;
  r.row.handle = legacy ? 0 : call.stream;
  if (legacy) r.row.kind = StreamKind::kLegacyDefault;
  if (per_thread) r.row.kind = StreamKind::kPerThreadDefault;
  r.row.non_blocking = announced && (call.flags & 1) != 0;
  if (announced) r.row.priority = call.priority;
  r.row.device = static_cast<int16_t>(call.device);
  if (!announced && !legacy && !per_thread) r.source = Source::kDerived;
  Write(r);
  return stream.get();
}

Recorder::StreamInfo* Recorder::StreamOf(ThreadState& thread, const Call& call) {
  uint64_t key = StreamKey(thread, call);
  if (auto* known = streams_.Find(key)) return known->get();
  return AddStream(key, call, false);
}

StreamId Recorder::StreamIdOf(ThreadState& thread, const Call& call) {
  return call.stream == kNoStream ? StreamId() : StreamOf(thread, call)->id;
}

// Of a stream that is recorded already.
StreamId Recorder::KnownStream(const ThreadState& thread, const Call& call) {
  const auto* known = streams_.Find(StreamKey(thread, call));
  return known != nullptr ? (*known)->id : StreamId();
}

Recorder::EventInfo* Recorder::EventOf(const Call& call, uint64_t handle) {
  if (auto* known = events_.Find(handle)) return known->get();
  (void)call;
  auto& event = events_.Insert(handle, std::make_unique<EventInfo>());
  event->id = EventId(next_event_++);
  EventRecord r;
  r.id = event->id;
  r.row.handle = handle;
  Write(r);
  return event.get();
}

void Recorder::RecordEvent(const Call& call, StreamInfo& stream, uint64_t handle,
                           const Frontier* entries) {
  EventInfo* event = EventOf(call, handle);
  event->capture = stream.capture ? stream.capture->id : CaptureId();
  event->seen_done = false;
  event->entries.clear();
  if (stream.capture) event->entries = entries ? *entries : stream.frontier;
  EventRecordRecord r;
  r.row.stream = stream.id;
  r.row.event = event->id;
  r.row.capturing = stream.capture != nullptr;
  r.row.has_entries = entries != nullptr;
  if (entries) r.row.entries = values_.Add(*entries);
  Write(call, r);
}

void Recorder::OnEventRecord(ThreadState& thread, const Call& call) {
  StreamInfo* stream = StreamOf(thread, call);
  if (thread.events.empty()) return RecordEvent(call, *stream, call.event, nullptr);
  EventInfo* event = EventOf(call, call.event);
  ApplyEvents(thread, call, true);  // an external record is a node
  EventRecordRecord r;
  r.row.stream = stream->id;
  r.row.event = event->id;
  r.row.capturing = r.row.external = true;
  Write(call, r);
}

void Recorder::OnEventWait(ThreadState& thread, const Call& call) {
  StreamInfo* stream = StreamOf(thread, call);
  EventInfo* event = EventOf(call, call.event);
  bool external = !thread.events.empty();
  if (external) ApplyEvents(thread, call, true);
  CaptureInfo* capture = external ? stream->capture : CaptureById(event->capture);
  if (!external && capture != nullptr) {
    if (stream->capture != capture) JoinCapture(*stream, capture);
    Join(stream->frontier, event->entries);
  }
  EventWaitRecord r;
  r.row.stream = stream->id;
  r.row.event = event->id;
  r.row.capturing = stream->capture != nullptr;
  r.row.external = external;
  Write(call, r);
}

void Recorder::OnSync(ThreadState& thread, const Call& call) {
  EventInfo* event = call.kind == CallKind::kEventSync ? EventOf(call, call.event) : nullptr;
  StreamInfo* stream = call.kind == CallKind::kStreamSync ? StreamOf(thread, call) : nullptr;
  if (event != nullptr && std::exchange(event->seen_done, true)) return;  // polled on
  SyncRecord r;
  r.row.kind = event    ? StreamOpKind::kEventSync
               : stream ? StreamOpKind::kStreamSync
                        : StreamOpKind::kDeviceSync;
  if (stream) r.row.stream = stream->id;
  if (event) r.row.event = event->id;
  Write(call, r);
}

// Takes the thread's memory to work in, or gives it back.
void Recorder::SwapSpace(ThreadState& thread) {
  std::swap(line_, thread.space.line);
  std::swap(fresh_.dependencies, thread.space.dependencies);
  std::swap(found_, thread.space.found);
}

void Recorder::Exit(ThreadState& thread, const Call& call, int32_t result) {
  SwapSpace(thread);
  thread.context = call.context;
  if (!waiting_.empty()) FlushPieces(thread);
  if (call.kind == CallKind::kEndCapture) {
    OnEndCapture(thread, call, result);
  } else if (call.kind == CallKind::kExecUpdate) {
    OnExecUpdate(thread, call, result);
    if (result != 0) Failed(thread, call, result);
  } else if (result != 0) {
    Failed(thread, call, result);
  } else {
    Succeeded(thread, call);
  }
  // A free that is captured is a node, and frees nothing yet.
  bool takes = result == 0 && (call.kind != CallKind::kFree || thread.events.empty());
  EndTaken(thread, call, takes);
  ApplyEvents(thread, call, result == 0);
  SwapSpace(thread);
}

void Recorder::Succeeded(ThreadState& thread, const Call& call) {
  switch (call.kind) {
    case CallKind::kStreamCreate:
      AddStream(call.stream, call, true);
      break;
    case CallKind::kEventCreate:
      return EndEvent(call.event, Source::kDerived);  // the one that had the handle before
    case CallKind::kBeginCapture:
      return OnBeginCapture(thread, call);
    case CallKind::kUpdateDependencies:
      return OnUpdateDependencies(thread, call);
    case CallKind::kEventRecord:
      return OnEventRecord(thread, call);
    case CallKind::kEventWait:
      return OnEventWait(thread, call);
    case CallKind::kStreamSync:
    case CallKind::kEventSync:
    case CallKind::kDeviceSync:
      return OnSync(thread, call);
    case CallKind::kAlloc:
      return OnAlloc(thread, call);
    case CallKind::kWork:
      if (eager_ && thread.events.empty()) OnEagerWork(thread, call);
      break;
    case CallKind::kPoolCreate:
      EndPool(call.pool, Source::kDerived);
      PoolOf(call, PoolKind::kStream, call.pool);
      break;
    case CallKind::kInstantiate:
      return OnInstantiate(thread, call);
    case CallKind::kNodeSet:
    case CallKind::kNodeEnabled:
      return OnNodeSet(thread, call);
    case CallKind::kNodeUpdatable:
      if (NodeInfo* node = nodes_.Find(call.node); node != nullptr && call.flags != 0)
        WriteUpdatable(call, *node);
      break;
    case CallKind::kGraphLaunch:
      return OnGraphLaunch(thread, call);
    default:  // what the graph events tell is all there is
      break;
  }
}

}  // namespace graphkit
