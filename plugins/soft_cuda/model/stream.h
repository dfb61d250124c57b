// Streams and events. A stream that captures holds its dependency set: the nodes that its next node
// will follow.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "plugins/soft_cuda/model/dependency_set.h"
#include "plugins/soft_cuda/model/graph.h"
#include "plugins/soft_cuda/model/handle.h"
#include "plugins/soft_cuda/model/pool.h"
#include "plugins/soft_cuda/model/worker.h"

namespace graphkit::soft {

struct Capture;
struct Context;
struct IpcEvent;

enum class StreamKind : uint8_t { kUser, kLegacy, kPerThread };

struct Stream {
  static constexpr Tag kTag = Tag::kStream;
  Tag tag = kTag;
  StreamKind kind = StreamKind::kUser;
  unsigned flags = 0;  // CU_STREAM_NON_BLOCKING
  int priority = 0;
  uint64_t id = 0;
  Context* context = nullptr;
  size_t place = 0;      // among the context's streams
  uint64_t time_ns = 0;  // modelled: when all work so far is done
  std::shared_ptr<WorkLine> line = std::make_shared<WorkLine>();
  FreeClock frees;  // its own and those before events that it has waited for
  CUaccessPolicyWindow window{};
  CUsynchronizationPolicy sync_policy = CU_SYNC_POLICY_AUTO;
  CUlaunchMemSyncDomainMap domain_map{0, 1};
  CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;

  Capture* capture = nullptr;            // the capture it takes part in
  DependencySet dependencies;            // of the next captured node
  std::vector<Node*> given;              // those of them that an update put there: need no join
  std::vector<CUgraphNode> shown_nodes;  // the same, as last shown to a caller
  std::vector<CUgraphEdgeData> shown_data;

  bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
  CUstream handle() { return reinterpret_cast<CUstream>(this); }
};

struct Event {
  static constexpr Tag kTag = Tag::kEvent;
  Tag tag = kTag;
  unsigned flags = 0;  // CU_EVENT_*
  Context* context = nullptr;
  bool recorded = false;
  uint64_t time_ns = 0;
  WorkMark mark;               // the end of what it was recorded after
  FreeClock frees;             // before the record
  IpcEvent* shared = nullptr;  // its state, where other processes have it too
  int32_t process = 0;         // that made it; 0: this one
  uint64_t capture = 0;      // id of the capture that it was last recorded in; 0: recorded outside
  std::vector<Edge> points;  // the dependency set at that record

  bool timing() const { return (flags & CU_EVENT_DISABLE_TIMING) == 0; }
  CUevent handle() { return reinterpret_cast<CUevent>(this); }
};

}  // namespace graphkit::soft
