// Captures: what begins and ends them, who joins them, and what breaks them.
#include <algorithm>

#include "plugins/cupti_tracer/streams.h"

namespace graphkit {

bool IsCaptureError(int32_t error) {
  constexpr int32_t kFirst = 900;  // cudaErrorStreamCaptureUnsupported
  constexpr int32_t kLast = 907;   // cudaErrorCapturedEvent
  return error >= kFirst && error <= kLast;
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

void Streams::Advance(const Call& call, StreamInfo& stream, NodeId node) {
  stream.frontier.assign(1, {node, kPortDefault, 0});
  const KernelWork& work = call.kernel;
  if (work.programmatic_event != 0) {
    const uint8_t port = work.at_block_start ? kPortLaunchCompletion : kPortProgrammatic;
    const Frontier entries{{node, port, static_cast<uint8_t>(EdgeType::kProgrammatic)}};
    RecordEvent(call, stream, work.programmatic_event, &entries);
  }
  if (work.completion_event != 0) {
    const Frontier entries{{node, kPortLaunchCompletion, 0}};
    RecordEvent(call, stream, work.completion_event, &entries);
  }
}

}  // namespace graphkit
