// Captures: what begins and ends them, who joins them, and what breaks them.
#include <algorithm>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

constexpr int32_t kFirstCaptureError = 900;  // cudaErrorStreamCaptureUnsupported
constexpr int32_t kLastCaptureError = 907;   // cudaErrorCapturedEvent

bool IsCaptureError(int32_t error) {
  return error >= kFirstCaptureError && error <= kLastCaptureError;
}

// Errors that leave a capture invalidated: unsupported, merge, isolation, implicit, captured event.
bool Invalidates(int32_t error) {
  return error == 900 || error == 902 || error == 905 || error == 906 || error == 907;
}

bool IsGraphCall(CallKind kind) {
  return kind == CallKind::kInstantiate || kind == CallKind::kGraphLaunch ||
         kind == CallKind::kExecUpdate || kind == CallKind::kAddNode;
}

}  // namespace

void Recorder::JoinCapture(StreamInfo& stream, CaptureInfo* capture) {
  LeaveCapture(stream);
  stream.capture = capture;
  capture->streams.push_back(&stream);
}

void Recorder::LeaveCapture(StreamInfo& stream) {
  if (stream.capture == nullptr) return;
  std::erase(stream.capture->streams, &stream);
  if (stream.capture->origin == &stream) stream.capture->origin = nullptr;
  stream.capture = nullptr;
  stream.frontier.clear();
}

Recorder::CaptureInfo* Recorder::CaptureById(CaptureId id) {
  if (!id) return nullptr;
  for (auto& capture : captures_) {
    if (capture->id == id) return capture.get();
  }
  return nullptr;
}

// The capture that the thread has begun and not ended, if any.
Recorder::CaptureInfo* Recorder::CaptureOfThread(const ThreadState& thread) {
  for (auto& capture : captures_) {
    if (thread.id && capture->thread == thread.id) return capture.get();
  }
  return nullptr;
}

// The capture that a call is made for: its stream's, or else its thread's.
Recorder::CaptureInfo* Recorder::CaptureOf(const ThreadState& thread, const Call& call) {
  if (captures_.empty()) return nullptr;
  if (auto* known = streams_.Find(call.stream); known != nullptr && (*known)->capture != nullptr) {
    return (*known)->capture;
  }
  return CaptureOfThread(thread);
}

Frontier Recorder::EntriesOf(const Call& call) {
  Frontier entries;
  for (const Dependency& dependency : call.dependencies) {
    NodeInfo* node = nodes_.Find(dependency.from);
    if (node != nullptr) entries.push_back({node->id, dependency.from_port, dependency.type});
  }
  return entries;
}

void Recorder::OnBeginCapture(ThreadState& thread, const Call& call) {
  StreamInfo* stream = StreamOf(thread, call);
  ThreadId thread_id = ThreadOf(thread);
  GraphInfo* graph = call.graph != 0 ? GraphOf(call.graph) : nullptr;
  for (const GraphEvent& event : thread.events) {
    if (graph == nullptr && event.kind == GraphEventKind::kGraphCreated) {
      graph = AddGraph(event.graph, GraphOrigin::kCapture, event.tool_id, {}, {}, 0);
    }
  }
  thread.events.clear();
  // A graph that wasn't announced gets its handle from its first node.
  if (graph == nullptr) {
    graph = AddGraph(~uint64_t{next_capture_}, GraphOrigin::kCapture, 0, {}, {}, 0);
  }

  captures_.push_back(std::make_unique<CaptureInfo>());
  CaptureInfo* capture = captures_.back().get();
  capture->id = CaptureId(next_capture_++);
  capture->graph = graph->id;
  capture->graph_handle = graph->handle;
  capture->origin = stream;
  capture->thread = thread_id;
  capture->mode = static_cast<CaptureMode>(call.mode % 3);
  JoinCapture(*stream, capture);
  CaptureBeginRecord r;
  r.id = capture->id;
  r.row.graph = graph->id;
  r.row.origin = stream->id;
  r.row.thread = thread_id;
  r.row.mode = capture->mode;
  Write(call, r);
  if (call.dependencies.empty()) return;
  Join(stream->frontier, EntriesOf(call));
  WriteFrontier(stream->id, StreamOpKind::kSetFrontier, stream->frontier);
}

void Recorder::WriteFrontier(StreamId stream, StreamOpKind kind, const Frontier& entries) {
  FrontierRecord r;
  r.row.stream = stream;
  r.row.kind = kind;
  r.row.entries = values_.Add(entries);
  Write(r);
}

void Recorder::OnUpdateDependencies(ThreadState& thread, const Call& call) {
  StreamInfo* stream = StreamOf(thread, call);
  Frontier entries = EntriesOf(call);
  bool set = (call.flags & 1) != 0;
  const StreamOpKind kind = set ? StreamOpKind::kSetFrontier : StreamOpKind::kAddToFrontier;
  WriteFrontier(stream->id, kind, entries);
  if (set) stream->frontier.clear();
  Join(stream->frontier, entries);
}

void Recorder::OnEndCapture(ThreadState& thread, const Call& call, int32_t error) {
  StreamInfo* stream = StreamOf(thread, call);
  CaptureInfo* capture = stream->capture;
  bool ends = capture != nullptr && capture->origin == stream;
  if (!ends) {
    if (error != 0) Failed(thread, call, error);
    return;
  }
  if (error != 0 && capture->failure == kNoFailure) WriteFailure(thread, call, error, capture);
  if (error != 0) thread.failed = 0;  // told
  CaptureEndRecord r;
  r.capture = capture->id;
  r.error = error;
  if (error != 0) r.failure = capture->failure;
  Write(call, r);
  for (StreamInfo* joined : capture->streams) {
    joined->capture = nullptr;
    joined->frontier.clear();
  }
  if (error != 0) DiscardGraph(*capture);
  std::erase_if(captures_, [capture](auto& open) { return open.get() == capture; });
}

// The graph of a capture that failed goes; one that is in a node stays, empty.
void Recorder::DiscardGraph(const CaptureInfo& capture) {
  if (capture.discarded) return WriteGraphEnd(capture.discarded, Source::kCallback);
  GraphInfo* graph = FindGraph(capture.graph_handle);
  if (graph == nullptr || graph->id != capture.graph) return;  // another's by now
  if (graph->parent) return EndNodes(*graph, true);
  EndGraph(capture.graph_handle, Source::kCallback);
}

Recorder::CaptureInfo* Recorder::CaptureHit(ThreadState& thread, uint64_t stream, int32_t error) {
  if (captures_.empty()) return nullptr;
  Call on_stream;
  on_stream.stream = stream;
  if (CaptureInfo* own = CaptureOf(thread, on_stream)) return own;
  if (!IsCaptureError(error)) return nullptr;
  for (auto& capture : captures_) {
    if (capture->mode == CaptureMode::kGlobal) return capture.get();
  }
  return captures_.back().get();
}

void Recorder::Failed(ThreadState& thread, const Call& call, int32_t error) {
  if (error == kNotReady) return;
  // The runtime may go another way when the driver refuses: it has the last word, unless a capture
  // was broken.
  if (thread.runtime_call != nullptr && !IsCaptureError(error)) {
    thread.failed = error;
    thread.failed_stream = call.stream;
    thread.failed_matters = call.is_allocation || IsGraphCall(call.kind);
    return;
  }
  CaptureInfo* capture = CaptureHit(thread, call.stream, error);
  if (capture != nullptr || call.is_allocation || IsGraphCall(call.kind)) {
    WriteFailure(thread, call, error, capture);
  }
}

void Recorder::RuntimeFailed(ThreadState& thread, const Call& call, int32_t error) {
  bool told = thread.failure_told;
  bool matters = thread.failed != 0 && thread.failed_matters;
  uint64_t stream = thread.failed_stream;
  Call failed = call;
  if (thread.failed != 0) failed.arguments = thread.arguments;
  thread.failure_told = thread.failed_matters = false;
  thread.failed = 0;
  thread.failed_stream = kNoStream;
  if (told || error == kNotReady) return;
  failed.stream = stream;
  CaptureInfo* capture = CaptureHit(thread, stream, error);
  if (capture != nullptr || matters) WriteFailure(thread, failed, error, capture);
}

void Recorder::WriteFailure(ThreadState& thread, const Call& call, int32_t error,
                            CaptureInfo* capture) {
  ThreadId thread_id = ThreadOf(thread);
  StreamId stream = StreamIdOf(thread, call);
  const char* name = thread.runtime_call != nullptr ? thread.runtime_call : call.name;
  std::string arguments = ArgumentsText(call.arguments);
  thread.failure_told = thread.runtime_call != nullptr;
  bool ends = call.kind == CallKind::kEndCapture && capture != nullptr &&
              capture->origin != nullptr && capture->origin->id == stream;
  if (capture != nullptr && (Invalidates(error) || ends) && capture->failure == kNoFailure) {
    capture->failure = next_failure_;
  }
  ++next_failure_;
  FailureRecord r;
  r.row.call = values_.Add(PlainCallName(name));
  r.row.error = error;
  r.row.thread = thread_id;
  r.row.stream = stream;
  if (capture != nullptr) r.row.graph = capture->graph;
  r.row.stack = call.stack;
  r.row.arguments = values_.Add(arguments);
  Write(call, r);
}

// "bytesize=4096, hEvent=event 3".
std::string Recorder::ArgumentsText(std::span<const CallArgument> arguments) {
  std::string text;
  for (const CallArgument& argument : arguments) {
    text += text.empty() ? "" : ", ";
    text += argument.name;
    text += '=';
    text += ArgumentText(argument);
  }
  return text;
}

std::string Recorder::ArgumentText(const CallArgument& argument) {
  auto known = [](const char* what, uint32_t id) { return what + std::to_string(id); };
  switch (argument.kind) {
    case ArgumentKind::kSigned:
      return std::to_string(static_cast<int64_t>(argument.value));
    case ArgumentKind::kAddress:
      if (auto place = live_.Find(argument.value)) {
        std::string block = known("block ", place->block.value);
        return place->offset == 0 ? block : block + "+" + std::to_string(place->offset);
      }
      break;
    case ArgumentKind::kEvent:
      if (auto* event = events_.Find(argument.value)) return known("event ", (*event)->id.value);
      break;
    case ArgumentKind::kGraph:
      if (GraphInfo* graph = FindGraph(argument.value)) return known("graph ", graph->id.value);
      break;
    case ArgumentKind::kNode:
      if (NodeInfo* node = nodes_.Find(argument.value)) return known("node ", node->id.value);
      break;
    case ArgumentKind::kExec:
      if (ExecInfo* exec = execs_.Find(argument.value)) return known("exec ", exec->id.value);
      break;
    case ArgumentKind::kPool:
      if (PoolId* pool = pools_.Find(argument.value)) return known("pool ", pool->value);
      break;
    default:
      return std::to_string(argument.value);
  }
  return argument.value == 0 ? "0" : "unknown";
}

}  // namespace graphkit
