// Calls that fail: in captures, which they may break, and those that were to allocate, or to make
// something of a graph.
#include "plugins/cupti_tracer/recorder/recorder.h"

#include <utility>

namespace graphkit {
namespace {

// Errors that leave a capture invalidated: unsupported, merge, isolation, implicit, captured event.
bool Invalidates(int32_t error) {
  return error == 900 || error == 902 || error == 905 || error == 906 || error == 907;
}

constexpr int32_t kLossyQuery = 402;

bool IsTold(const Call& call) {
  return call.is_allocation || Is(call.kind, KindRow::kTold) || call.result == kLossyQuery;
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

void Recorder::Failed(ThreadState& thread, const Call& call) {
  if (call.result == kNotReady) return;
  thread.failed_on = FailedOn(call);
  // The runtime may go another way when the driver refuses: it has the last word, unless a capture
  // was broken.
  if (thread.runtime_call != nullptr && !IsCaptureError(call.result)) {
    thread.failed = call.result;
    thread.failed_stream = call.stream;
    thread.failed_matters = IsTold(call);
    return;
  }
  CaptureInfo* capture = streams_.CaptureHit(thread, call.stream, call.result);
  if (capture != nullptr || IsTold(call)) WriteFailure(thread, call, call.result, capture);
}

FailedGraph Recorder::FailedOn(const Call& call) {
  if (call.kind == CallKind::kGraphUpload || call.kind == CallKind::kGraphLaunch) {
    const ExecInfo* exec = execs_.Find(call.exec);
    return exec == nullptr ? FailedGraph() : FailedGraph{.graph = exec->graph};
  }
  FailedGraph failed;
  if (call.kind == CallKind::kInstantiate) {
    failed.reason = call.reason;
    failed.flags = call.flags;
  } else if (call.result != kLossyQuery) {
    return {};
  }
  if (const GraphInfo* graph = graphs_.Find(call.graph)) failed.graph = graph->id;
  if (const NodeInfo* node = graphs_.FindNode(call.node)) {
    failed.node = node->id;
    if (!failed.graph) failed.graph = node->graph;
  }
  return failed;
}

void Recorder::RuntimeFailed(ThreadState& thread, const Call& call, int32_t error) {
  bool told = thread.failure_told;
  bool matters = thread.failed != 0 && thread.failed_matters;
  Call failed = call;
  failed.stream = thread.failed_stream;
  if (thread.failed != 0) failed.arguments = thread.arguments;
  thread.failure_told = thread.failed_matters = false;
  thread.failed = 0;
  thread.failed_stream = kNoStream;
  if (told || error == kNotReady) return;
  CaptureInfo* capture = streams_.CaptureHit(thread, failed.stream, error);
  if (capture != nullptr || matters) WriteFailure(thread, failed, error, capture);
}

void Recorder::WriteFailure(ThreadState& thread, const Call& call, int32_t error,
                            CaptureInfo* capture) {
  ThreadId thread_id = threads_.IdOf(thread);
  StreamId stream = streams_.IdOf(thread, call);
  const char* name = thread.runtime_call != nullptr ? thread.runtime_call : call.name;
  std::string arguments = ArgumentsText(call.arguments);
  thread.failure_told = thread.runtime_call != nullptr;
  bool ends = call.kind == CallKind::kEndCapture && capture != nullptr &&
              capture->origin != nullptr && capture->origin->id == stream;
  if (capture != nullptr && (Invalidates(error) || ends) &&
      capture->failure == CaptureInfo::kNoFailure) {
    capture->failure = next_failure_;
  }
  ++next_failure_;
  FailureRecord r;
  r.row.call = records_.Add(PlainCallName(name));
  r.row.error = error;
  r.row.thread = thread_id;
  r.row.stream = stream;
  if (capture != nullptr) r.row.graph = capture->graph;
  r.row.stack = call.stack;
  r.row.arguments = records_.Add(arguments);
  r.row.of = std::exchange(thread.failed_on, {});
  records_.Write(call, r);
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
  constexpr const char* kWords[] = {"",      "stream ", "event ", "exec ",
                                    "pool ", "graph ",  "node ",  "block "};
  const uint64_t value = argument.value;
  std::string text;
  if (argument.kind == ArgumentKind::kSigned) return std::to_string(static_cast<int64_t>(value));
  if (argument.kind == ArgumentKind::kUnsigned) return std::to_string(value);
  if (argument.kind == ArgumentKind::kAddress) {
    if (auto place = memory_.Find(value)) {
      text = "block " + std::to_string(place->block.value);
      if (place->offset != 0) text += "+" + std::to_string(place->offset);
    }
  } else if (argument.what == Taken::kEvent && streams_.FindEvent(value) != nullptr) {
    text = "event " + std::to_string(streams_.EventOf(value).id.value);
  } else if (const uint32_t id = IdOf(argument.what, value); id != Going::kNobody) {
    text = kWords[static_cast<size_t>(argument.what)] + std::to_string(id);
  }
  return !text.empty() ? text : value == 0 ? "0" : "unknown";
}

}  // namespace graphkit
