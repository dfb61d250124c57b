#include "plugins/soft_cuda/model/capture.h"

#include <algorithm>
#include <utility>

namespace graphkit::soft {
CUresult Captures::Begin(Stream* stream, Graph* into, std::span<const Edge> dependencies,
                         CUstreamCaptureMode mode, const ThreadState& thread) {
  if (stream->kind == StreamKind::kLegacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_unique<Capture>();
  capture->id = ++count_;
  capture->own_graph = into == nullptr;
  capture->graph = into != nullptr ? into : graphs_.MakeGraph(GraphKind::kUser);
  capture->graph->capturing = true;
  capture->origin = stream;
  capture->thread = thread.number;
  capture->mode = mode;
  Join(stream, capture.get(), dependencies);
  active_.emplace(capture->id, std::move(capture));
  return CUDA_SUCCESS;
}

CUresult Captures::End(Stream* stream, const ThreadState& thread, Graph** graph) {
  *graph = nullptr;
  Capture* capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream) {
    capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  CUresult result = CUDA_SUCCESS;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread.number) {
    result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  } else if (!capture->valid) {
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  } else if (!Joined(*capture)) {
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  if (result == CUDA_SUCCESS) {
    capture->graph->capturing = false;
    *graph = capture->graph;
  } else {
    Discard(capture->graph);
  }
  Release(capture);
  return result;
}

namespace {

bool IsInside(const Graph* graph, const Graph* around) {
  for (const Graph* g = graph; g != nullptr;
       g = g->parent != nullptr ? g->parent->graph : nullptr) {
    if (g == around) return true;
  }
  return false;
}

}  // namespace

// Other captures into graphs inside this one, which is about to go.
void Captures::LoseGraphsInside(const Graph* graph) {
  for (auto& [id, capture] : active_) {
    if (capture->graph == graph || !IsInside(capture->graph, graph)) continue;
    capture->valid = false;
    capture->graph = nullptr;
    capture->left.clear();
    capture->let_go.clear();
    for (Stream* stream : capture->streams) {
      stream->dependencies.clear();
      stream->given.clear();
    }
  }
}

void Captures::Discard(Graph* graph) {
  if (graph == nullptr) return;
  graph->capturing = false;
  LoseGraphsInside(graph);
  if (graph->kind == GraphKind::kUser) {
    graphs_.DestroyGraph(graph);
  } else {
    graphs_.DestroyInside(graph);
  }
}

namespace {

// Did an update put the node into the stream's set?
bool IsGiven(const Stream& stream, const Node* node) {
  return std::find(stream.given.begin(), stream.given.end(), node) != stream.given.end();
}

}  // namespace

bool Captures::Joined(const Capture& capture) const {
  std::vector<Edge> ends = capture.origin->dependencies.edges();
  ends.insert(ends.end(), capture.let_go.begin(), capture.let_go.end());
  const uint32_t mark = MarkAncestors(ends, true);
  const auto joined = [&](const Edge& e) { return e.node->mark == mark; };
  if (!std::all_of(capture.left.begin(), capture.left.end(), joined)) return false;
  for (const Stream* stream : capture.streams) {
    if (stream == capture.origin) continue;
    for (const Edge& e : stream->dependencies) {
      if (!joined(e) && !IsGiven(*stream, e.node)) return false;
    }
  }
  // An edge that doesn't wait for completion can't be thrown away at the end.
  return std::all_of(capture.origin->dependencies.begin(), capture.origin->dependencies.end(),
                     [](const Edge& e) { return IsFull(e.data); });
}

void Captures::Release(Capture* capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->dependencies.clear();
    stream->given.clear();
  }
  active_.erase(capture->id);
}

void Captures::Join(Stream* stream, Capture* capture, std::span<const Edge> points) {
  if (stream->capture == nullptr) {
    stream->capture = capture;
    stream->dependencies.clear();
    capture->streams.push_back(stream);
  }
  stream->dependencies.Add(points);
}

void Captures::Leave(Stream* stream) {
  Capture* capture = stream->capture;
  if (capture == nullptr) return;
  if (capture->origin == stream) {
    Discard(capture->graph);
    Release(capture);
    return;
  }
  // Mostly one that joined late.
  const auto after = std::find(capture->streams.rbegin(), capture->streams.rend(), stream).base();
  capture->streams.erase(after - 1);
  for (const Edge& e : stream->dependencies) {
    if (!IsGiven(*stream, e.node)) capture->left.push_back(e);
  }
}

void Captures::CutOff(Node* node) {
  for (auto& [id, capture] : active_) {
    if (capture->graph == node->graph) capture->let_go.push_back({node, {}});
  }
}

Node* Captures::AddNode(Stream* stream, CUgraphNodeType type, NodeParams params,
                        std::span<const Edge> dependencies) {
  Node* node = graphs_.AddNode(stream->capture->graph, type, std::move(params), dependencies);
  stream->dependencies.Set(node);
  stream->given.clear();
  return node;
}

CUresult Captures::Update(Stream* stream, std::span<const Edge> edges, unsigned flags) {
  if (stream->capture == nullptr || !stream->capture->valid) return CUDA_ERROR_ILLEGAL_STATE;
  for (const Edge& e : edges) {
    if (e.node == nullptr || e.node->graph != stream->capture->graph)
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
    for (const Edge& e : stream->dependencies) stream->capture->let_go.push_back({e.node, {}});
    stream->dependencies.clear();
  } else if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const Edge& e : edges) stream->given.push_back(e.node);
  Join(stream, stream->capture, edges);
  return CUDA_SUCCESS;
}

bool Captures::Uses(const Graph* graph) const {
  return std::any_of(active_.begin(), active_.end(),
                     [graph](const auto& entry) { return IsInside(entry.second->graph, graph); });
}

CUresult Captures::CheckUnsafe(const ThreadState& thread) {
  if (active_.empty() || thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (auto& [id, capture] : active_) {
    const bool own =
        capture->thread == thread.number && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool global = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                        thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!own && !global) continue;
    capture->valid = false;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult Captures::CheckWaitForAll(const Context* context) {
  CUresult result = CUDA_SUCCESS;
  for (auto& [id, capture] : active_) {
    if (capture->origin->context != context) continue;
    capture->valid = false;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

namespace {

bool HasBlockingStream(const Capture& capture, const Context* context) {
  return std::any_of(capture.streams.begin(), capture.streams.end(),
                     [&](const Stream* s) { return s->context == context && s->blocking(); });
}

}  // namespace

CUresult Captures::CheckLegacy(const Context* context) {
  const CUresult result = CheckLegacyQuestion(context);
  if (result == CUDA_SUCCESS) return result;
  for (auto& [id, capture] : active_) {
    if (HasBlockingStream(*capture, context)) capture->valid = false;
  }
  return result;
}

CUresult Captures::CheckLegacyQuestion(const Context* context) const {
  const bool implicit = std::any_of(active_.begin(), active_.end(), [&](const auto& entry) {
    return HasBlockingStream(*entry.second, context);
  });
  return implicit ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

Capture* Captures::Find(uint64_t id) const {
  auto found = active_.find(id);
  return found == active_.end() ? nullptr : found->second.get();
}

}  // namespace graphkit::soft
