// Random calls on streams: captures, events, allocations, work.
#include <thread>

#include "random_player.h"

namespace random_calls {

// A captured call has added one node, which is the stream's only dependency.
void Player::TakeNewNode(int stream) {
  const Stream& s = world_.streams[stream];
  if (s.capture == kNone) return;
  const int graph = world_.captures[s.capture].graph;
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* set = nullptr;
  size_t count = 0;
  cudaStreamGetCaptureInfo(streams_[stream], &status, nullptr, nullptr, &set, nullptr, &count);
  if (count != 1) {
    Differ("a captured call left " + std::to_string(count) + " dependencies");
    return;
  }
  nodes_[graph].push_back(set[0]);
}

void Player::Begin(int stream) {
  const auto mode = static_cast<Mode>(Pick(3));
  const int into = Chance(25) ? PickGraph() : kNone;
  const Nodes after = into != kNone ? PickNodes(world_.graphs[into], 2) : Nodes{};
  const Error want = world_.Begin(stream, mode, into, after);
  cudaError_t got;
  if (into == kNone) {
    got = cudaStreamBeginCapture(streams_[stream], static_cast<cudaStreamCaptureMode>(mode));
  } else {
    const auto handles = Handles(into, after);
    got = cudaStreamBeginCaptureToGraph(streams_[stream], graphs_[into], handles.data(), nullptr,
                                        handles.size(), static_cast<cudaStreamCaptureMode>(mode));
  }
  const std::string name = "begin(stream " + std::to_string(stream) + ", mode " +
                           std::to_string(mode) + ", into " + std::to_string(into) + ")";
  if (!Same(name, want, got) || want != kOk || into != kNone) return;
  cudaStreamCaptureStatus status;
  cudaGraph_t graph = nullptr;
  cudaStreamGetCaptureInfo(streams_[stream], &status, nullptr, &graph, nullptr, nullptr, nullptr);
  OwnGraph(static_cast<int>(world_.graphs.size()) - 1, graph);
}

void Player::End(int stream) {
  int want_graph = kNone;
  const Error want = world_.End(stream, &want_graph);
  cudaGraph_t graph = nullptr;
  const cudaError_t got = cudaStreamEndCapture(streams_[stream], &graph);
  if (!Same("end(stream " + std::to_string(stream) + ")", want, got)) return;
  const cudaGraph_t known = want_graph != kNone ? graphs_[want_graph] : nullptr;
  if (graph != known) Differ("end gave another graph");
  if (want_graph != kNone) CheckGraph(want_graph);
}

void Player::Host(int stream) {
  const int capture = world_.streams[stream].capture;
  int graph = -1;
  int node = 0;
  if (capture != kNone) {
    graph = world_.captures[capture].graph;
    node = static_cast<int>(world_.graphs[graph].nodes.size());
  }
  HostTag& tag = *tags_.emplace_back(new HostTag{&log_, graph, node});
  const Error want = world_.Work(stream, Type::kHost);
  const cudaError_t got = cudaLaunchHostFunc(streams_[stream], Log, &tag);
  while (capture == kNone && got == cudaSuccess && tag.ran.load(std::memory_order_acquire) == 0) {
    std::this_thread::yield();  // no call can wait for the stream while another one captures
  }
  if (Same("host(stream " + std::to_string(stream) + ")", want, got) && want == kOk)
    TakeNewNode(stream);
}

void Player::Allocate(int stream) {
  const int capture = world_.streams[stream].capture;
  const size_t bytes = static_cast<size_t>(1 + Pick(4)) << 10;
  const int number = static_cast<int>(world_.allocations.size());
  const Error want = world_.Work(stream, Type::kAlloc, capture != kNone ? number : kNone);
  void* pointer = nullptr;
  const cudaError_t got = cudaMallocAsync(&pointer, bytes, streams_[stream]);
  if (!Same("mallocAsync(stream " + std::to_string(stream) + ")", want, got) || want != kOk) return;
  TakeNewNode(stream);
  TakeMemory(pointer, bytes, capture != kNone ? world_.captures[capture].graph : kNone);
}

void Player::Free(int stream) {
  if (owner_.empty()) return;
  const int capture = world_.streams[stream].capture;
  const int graph = capture != kNone ? world_.captures[capture].graph : kNone;
  std::vector<std::pair<char*, int>> candidates;
  for (const auto& [pointer, number] : owner_) {
    // A free that isn't ordered after its allocation is a mistake whose result isn't documented.
    const bool own = number != kNone && world_.allocations[number].graph == graph &&
                     world_.IsBehind(stream, number);
    if (capture == kNone || own || (number == kNone && Chance(5)))
      candidates.push_back({pointer, number});
  }
  if (candidates.empty()) return;
  const auto [pointer, number] = candidates[Pick(candidates.size())];
  Error want = kOk;
  if (number != kNone) {
    want = world_.FreeAsync(stream, number);
  } else if (capture != kNone) {
    want = world_.captures[capture].valid ? kInvalidValue : kCaptureInvalidated;
  } else {
    want = pool_.erase(pointer) > 0 ? kOk : kInvalidValue;
  }
  const cudaError_t got = cudaFreeAsync(pointer, streams_[stream]);
  const std::string name =
      "freeAsync(stream " + std::to_string(stream) + ", allocation " + std::to_string(number) + ")";
  if (Same(name, want, got) && want == kOk && capture != kNone) TakeNewNode(stream);
}

void Player::Update(int stream) {
  const int capture = world_.streams[stream].capture;
  const int graph = capture != kNone ? world_.captures[capture].graph : PickGraph();
  if (graph == kNone) return;
  const Nodes nodes = PickNodes(world_.graphs[graph], 3);
  const bool add = Chance(70);
  auto handles = Handles(graph, nodes);
  const Error want = world_.Update(stream, add, nodes);
  const cudaError_t got = cudaStreamUpdateCaptureDependencies(
      streams_[stream], handles.data(), nullptr, handles.size(),
      add ? cudaStreamAddCaptureDependencies : cudaStreamSetCaptureDependencies);
  Same("update(stream " + std::to_string(stream) + ")", want, got);
}

void Player::Unsafe() {
  void* pointer = nullptr;
  const Error want = world_.Unsafe();
  const cudaError_t got = cudaMalloc(&pointer, 256);
  Same("malloc", want, got);
  if (got != cudaSuccess) return;
  owner_.erase(static_cast<char*>(pointer));
  cudaFree(pointer);
}

void Player::Recreate(int stream) {
  world_.LeaveStream(stream);
  Same("destroy(stream " + std::to_string(stream) + ")", kOk, cudaStreamDestroy(streams_[stream]));
  cudaStreamCreateWithFlags(&streams_[stream], cudaStreamNonBlocking);
}

void Player::StreamStep(int kind) {
  const int stream = Pick(kStreams);
  const int event = Pick(kEvents);
  const std::string names =
      "(stream " + std::to_string(stream) + ", event " + std::to_string(event) + ")";
  if (kind < 10) {
    Begin(stream);
  } else if (kind < 18) {
    End(stream);
  } else if (kind < 36) {
    Host(stream);
  } else if (kind < 50) {
    Allocate(stream);
  } else if (kind < 60) {
    Free(stream);
  } else if (kind < 75) {
    const Error want = world_.Record(event, stream);
    Same("record" + names, want, cudaEventRecord(events_[event], streams_[stream]));
  } else if (kind < 91) {
    const Error want = world_.Wait(stream, event);
    Same("wait" + names, want, cudaStreamWaitEvent(streams_[stream], events_[event], 0));
  } else if (kind < 94) {
    Update(stream);
  } else if (kind < 95) {
    Unsafe();
  } else if (kind < 96) {
    const Error want = world_.Query(event);
    const cudaError_t got = cudaEventQuery(events_[event]);
    // The event's work may still be running: it may be a host function.
    Same("query" + names, want, got == cudaErrorNotReady ? cudaSuccess : got);
  } else if (kind < 97) {
    const Error want = world_.Synchronize(stream);
    Same("synchronize" + names, want, cudaStreamSynchronize(streams_[stream]));
  } else if (kind < 99) {
    auto mode = static_cast<cudaStreamCaptureMode>(Pick(3));
    world_.thread_mode = static_cast<Mode>(mode);
    Same("exchange", kOk, cudaThreadExchangeStreamCaptureMode(&mode));
  } else {
    Recreate(stream);
  }
}

}  // namespace random_calls
