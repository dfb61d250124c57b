// Ends of things: streams, events, execs, pools, memory, nodes, graphs with all in them.
//
// The driver may give out a handle again as soon as it has let go of it, which is before the call
// that takes it away returns:
//
//     thread A   |-- cuEventDestroy(e) --------------------|
//     thread B                  |-- cuEventCreate -> e --|
//
// So what the handle stands for is noted when A's call begins, and ended when it returns, unless it
// has ended before: when B's call returned, which says that the handle is another's (`derived`). A
// call that fails ends nothing, and what it was to end was there throughout.
//
// Of graphs CUPTI says when the destruction begins. They end there, so that the handles of their
// nodes stand for nothing while they may be given to nodes of CUDA's own, which aren't announced.
#include <algorithm>

#include "plugins/cupti_tracer/recorder/recorder.h"

namespace graphkit {
namespace {

// The field of a call that names what it takes away.
constexpr uint64_t Call::*kHandles[] = {nullptr,     &Call::stream, &Call::event, &Call::exec,
                                        &Call::pool, &Call::graph,  &Call::node,  &Call::address};

}  // namespace

// The id of what a handle or an address stands for now; of an event, which may have none yet, its
// number.
uint32_t Recorder::IdOf(Taken what, uint64_t handle) {
  auto id = [](auto* info) { return info != nullptr ? info->id.value : Going::kNobody; };
  switch (what) {
    case Taken::kNothing:
      break;
    case Taken::kStream:
      return id(streams_.Find(handle));
    case Taken::kEvent: {
      const EventInfo* event = streams_.FindEvent(handle);
      return event != nullptr ? event->number : Going::kNobody;
    }
    case Taken::kExec:
      return id(execs_.Find(handle));
    case Taken::kPool:
      return memory_.FindPool(handle) != nullptr ? memory_.FindPool(handle)->value : Going::kNobody;
    case Taken::kGraph:
      return id(graphs_.Find(handle));
    case Taken::kNode:
      return id(graphs_.FindNode(handle));
    case Taken::kMemory:
      return memory_.IdAt(handle);
  }
  return Going::kNobody;
}

void Recorder::Enter(ThreadState& thread, const Call& call) {
  const Taken what = TakenBy(call.kind);
  if (what == Taken::kNothing) return;
  const uint64_t handle = call.*kHandles[static_cast<size_t>(what)];
  thread.going.push_back({what, handle, IdOf(what, handle)});
  if (what == Taken::kMemory) memory_.OnFreeing(thread, call);
}

// The end of a call: of what it took away, if it did and that is still there.
void Recorder::EndTaken(ThreadState& thread, const Call& call, bool succeeded) {
  const Taken what = TakenBy(call.kind);
  if (what == Taken::kNothing) return;
  const uint64_t handle = call.*kHandles[static_cast<size_t>(what)];
  auto& going = thread.going;
  const auto own = std::find_if(going.rbegin(), going.rend(), [&](const Going& noted) {
    return noted.what == what && noted.handle == handle;
  });
  if (own == going.rend()) return;
  const Going noted = *own;
  going.erase(std::next(own).base(), going.end());
  if (noted.id == Going::kNobody || IdOf(what, handle) != noted.id) return;
  if (succeeded) End(thread, call, noted);
}

void Recorder::End(ThreadState& thread, const Call& call, const Going& going) {
  switch (going.what) {
    case Taken::kNothing:
      return;
    case Taken::kStream:
      return streams_.End(going.handle, Source::kCallback);
    case Taken::kEvent:
      return streams_.EndEvent(going.handle, Source::kCallback);
    case Taken::kExec:
      return execs_.End(going.handle, call.time, Source::kCallback);
    case Taken::kPool:
      return memory_.EndPool(going.handle, Source::kCallback);
    case Taken::kGraph:
      return graphs_.End(going.handle, Source::kCallback);
    case Taken::kNode:
      return graphs_.EndNode(going.handle, Source::kCallback);
    case Taken::kMemory:
      return memory_.OnFree(thread, call);
  }
}

void Recorder::OnGraphDestroyed(ThreadState& thread, uint64_t graph) {
  // Events of the graph that the same call had made are not the program's.
  std::erase_if(thread.events, [graph](const GraphEvent& event) { return event.graph == graph; });
  SwapSpace(thread);
  // That of a capture goes when the capture ends, which failed: the call says more when it returns.
  const GraphId id = graphs_.IdOf(graph);
  if (CaptureInfo* open = id ? streams_.CaptureInto(id) : nullptr) {
    open->discarded = graphs_.Detach(graph);
  } else {
    graphs_.End(graph, Source::kCallback);
  }
  SwapSpace(thread);
}

}  // namespace graphkit
