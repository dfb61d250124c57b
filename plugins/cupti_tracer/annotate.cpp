// graphkit_annotate_v1: what allocators say through graphkit_annotate.h. And
// graphkit_let_go_of_cupti, for a tool that needs the subscription.
#include "plugins/cupti_tracer/graphkit_annotate.h"

#include "plugins/cupti_tracer/driver/driver_calls.h"
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

void Annotate(Recorder& recorder, ThreadState& thread, uint32_t kind, const Call& call,
              const char* name) {
  switch (kind) {
    case GRAPHKIT_BLOCK_STREAM:
      return recorder.memory().OnBlockStream(thread, call);
    case GRAPHKIT_RECORD_STREAM:
      return recorder.memory().OnRecordStream(thread, call);
    case GRAPHKIT_FREE_REQUESTED:
      return recorder.memory().OnFreeRequested(thread, call);
    case GRAPHKIT_FREE_COMPLETED:
      return recorder.memory().OnFreeCompleted(thread, call);
    case GRAPHKIT_ALLOC:
      recorder.memory().OnRegion(thread, call);
      return recorder.memory().Settle(thread);
    case GRAPHKIT_POOL:
      return recorder.memory().OnPoolNamed(thread, call, name != nullptr ? name : "");
    default:  // of a later version
      return;
  }
}

}  // namespace
}  // namespace graphkit

extern "C" __attribute__((visibility("default"))) int graphkit_annotate_v1(
    uint32_t kind, const void* address, uint64_t size, void* stream, const char* name) {
  using namespace graphkit;
  const bool freed = kind == GRAPHKIT_FREE_REQUESTED || kind == GRAPHKIT_FREE_COMPLETED;
  const auto say = [&](Recorder& recorder, ThreadState& thread, uint64_t now) {
    Call call = CallAt(reinterpret_cast<uint64_t>(address), size, thread, now);
    bool has_stream = kind == GRAPHKIT_BLOCK_STREAM || kind == GRAPHKIT_RECORD_STREAM ||
                      kind == GRAPHKIT_ALLOC || kind == GRAPHKIT_FREE_REQUESTED;
    if (has_stream) call.stream = StreamHandle(stream, false);
    Annotate(recorder, thread, kind, call, name);
  };
  Tracer::Get().With(say, kind == GRAPHKIT_ALLOC || freed);
  return 0;
}

// 1: the tracer had CUPTI, and lets go of it; recording has ended. `holder`: who wants it.
extern "C" __attribute__((visibility("default"))) int graphkit_let_go_of_cupti(const char* holder) {
  try {
    return graphkit::Tracer::Get().LetGo(holder != nullptr ? holder : "another tool") ? 1 : 0;
  } catch (...) {
    return 0;
  }
}
