// Stream capture: which streams record into which graph, and the rules that end or spoil a capture.
//
//   origin  a ── b ───────────── e      EndCapture(origin) needs d ordered before e's set:
//                 \             /       every other stream's dependencies must lie at or before the
//                 origin's,
//   joined         c ── d ─────         along edges that wait for completion
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/soft_cuda/ground/thread_state.h"
#include "plugins/soft_cuda/model/graph.h"
#include "plugins/soft_cuda/model/stream.h"

namespace graphkit::soft {

struct Capture {
  uint64_t id;
  Graph* graph;  // null: it went with a graph around it, whose own capture failed
  Stream* origin;
  uint64_t thread;  // ThreadState::number of who began it
  CUstreamCaptureMode mode;
  bool own_graph;  // made by the capture, not given to it
  bool valid = true;
  std::vector<Stream*> streams;  // origin first
  std::vector<Edge> left{};      // ends of destroyed streams: to be joined like a stream
  // Nodes that a call took out of a stream's set, or cut off from the nodes after them: neither
  // they nor what is before them has to be joined (cuda_runtime_api.h on
  // cudaStreamUpdateCaptureDependencies and cudaStreamGetCaptureInfo).
  std::vector<Edge> let_go{};
};

class Captures {
 public:
  explicit Captures(GraphStore& graphs) : graphs_(graphs) {}

  CUresult Begin(Stream* stream, Graph* into, std::span<const Edge> dependencies,
                 CUstreamCaptureMode mode, const ThreadState& thread);
  // The graph is null where the capture failed; the capture is over either way, unless the call
  // itself was wrong.
  CUresult End(Stream* stream, const ThreadState& thread, Graph** graph);
  void Invalidate(Capture* capture) { capture->valid = false; }
  void Join(Stream* stream, Capture* capture, std::span<const Edge> points);
  void Leave(Stream* stream);  // a destroyed stream

  // Adds a node after the stream's dependencies and makes it the stream's only dependency.
  Node* AddNode(Stream* stream, CUgraphNodeType type, NodeParams params,
                std::span<const Edge> dependencies);
  CUresult Update(Stream* stream, std::span<const Edge> edges, unsigned flags);
  // Does a capture record into this graph or into one inside it?
  bool Uses(const Graph* graph) const;

  // May this thread make a call that is unsafe during a capture? Spoils the captures that
  // forbid it.
  CUresult CheckUnsafe(const ThreadState& thread);
  // A wait for all of a context's work: not while anything in it captures, in whatever mode.
  CUresult CheckWaitForAll(const Context* context);
  // A use of the legacy stream: not while a blocking stream of the context captures. A question
  // about it leaves that capture as it is.
  CUresult CheckLegacy(const Context* context);
  CUresult CheckLegacyQuestion(const Context* context) const;
  // The edges out of a node were cut by a call on the graph.
  void CutOff(Node* node);
  Capture* Find(uint64_t id) const;
  bool any() const { return !active_.empty(); }

 private:
  void Discard(Graph* graph);  // of a capture that failed
  void LoseGraphsInside(const Graph* graph);
  void Release(Capture* capture);
  bool Joined(const Capture& capture) const;

  GraphStore& graphs_;
  std::unordered_map<uint64_t, std::unique_ptr<Capture>> active_;
  uint64_t count_ = 0;
};

}  // namespace graphkit::soft
