// Collective operations, send and receive, and groups of them: one kernel for each communicator and
// stream of a group. Nothing is exchanged between ranks; with one rank an operation is a copy, as
// in NCCL.
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "plugins/soft_cuda/libraries/nccl/communicator.h"

namespace graphkit::soft::nccl {
namespace {

// The numbers of docs/format.md.
enum Kind : uint32_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive
};

struct Group {
  int depth = 0;
  std::vector<Operation> operations;
  std::vector<std::function<Status()>> waits;
};
thread_local Group group;

Status StatusOf(CUresult result) { return result == CUDA_SUCCESS ? kSuccess : kCudaError; }

void AddTo(Work& work, const Operation& operation) {
  const Communicator& communicator = *operation.communicator;
  if (operation.read.at == operation.written.at) {
    work.Updates(operation.read.at, std::max(operation.read.bytes, operation.written.bytes));
  } else {
    work.Reads(operation.read.at, operation.read.bytes);
    work.Writes(operation.written.at, operation.written.bytes);
  }
  work.Reads(operation.factor.at, operation.factor.bytes);
  work.Collects({communicator.key(), communicator.ranks, communicator.rank, operation.kind,
                 static_cast<uint32_t>(operation.type), operation.count, operation.peer});
}

Status Copy(const Factor& from, const Factor& to, CUstream stream) {
  if (from.at == nullptr || to.at == nullptr || from.at == to.at) return kSuccess;
  return StatusOf(cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to.at),
                                    reinterpret_cast<CUdeviceptr>(from.at),
                                    std::min(from.bytes, to.bytes), stream));
}

// With one rank: what is sent is received by its own receives, in their order.
Status CopyAll(const std::vector<const Operation*>& operations) {
  std::vector<const Operation*> receives;
  for (const Operation* operation : operations) {
    if (operation->kind == kReceive) receives.push_back(operation);
  }
  size_t received = 0;
  for (const Operation* operation : operations) {
    if (operation->kind == kReceive) continue;
    const bool sends = operation->kind == kSend;
    if (sends && received == receives.size()) return kInvalidUsage;
    const Factor& to = sends ? receives[received++]->written : operation->written;
    if (const Status status = Copy(operation->read, to, operation->stream)) return status;
  }
  return kSuccess;
}

// The capture of a stream, and the last node that it captured; id 0: it doesn't capture.
struct Capturing {
  cuuint64_t id = 0;
  CUgraphNode last = nullptr;
};
Capturing CapturingOn(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  Capturing capturing;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  const CUresult asked =
      cuStreamGetCaptureInfo(stream, &status, &capturing.id, nullptr, &nodes, &edges, &count);
  if (asked != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return {};
  if (count > 0) capturing.last = nodes[0];
  return capturing;
}

// NCCL_GRAPH_STREAM_ORDERING, on by default: in a graph, NCCL orders the operations of a
// communicator by the order of the calls.
bool OrdersCaptures() {
  const char* text = std::getenv("NCCL_GRAPH_STREAM_ORDERING");
  return text == nullptr || std::string_view(text) != "0";
}

CUresult LaunchOrdered(const Work& work, Communicator& communicator, CUstream stream) {
  const Capturing before = OrdersCaptures() ? CapturingOn(stream) : Capturing();
  if (before.id != 0 && before.id == communicator.capture) {
    CUgraphNode* last = &communicator.captured;
    cuStreamUpdateCaptureDependencies(stream, last, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
  }
  const CUresult launched = work.Launch();
  if (before.id != 0 && launched == CUDA_SUCCESS) {
    communicator.capture = before.id;
    communicator.captured = CapturingOn(stream).last;
  }
  return launched;
}

Status Launch(const std::vector<const Operation*>& operations) {
  Communicator& communicator = *operations[0]->communicator;
  cuCtxPushCurrent(communicator.context);
  Status status = kSuccess;
  if (communicator.ranks == 1) {
    status = CopyAll(operations);
  } else {
    Work work(operations.size() == 1 ? operations[0]->call : "ncclGroupEnd", operations[0]->stream);
    for (const Operation* operation : operations) AddTo(work, *operation);
    status = StatusOf(LaunchOrdered(work, communicator, operations[0]->stream));
  }
  cuCtxPopCurrent(nullptr);
  return status;
}

// Those of one communicator on one stream together, in the order of the first of each.
Status LaunchAll(const std::vector<Operation>& operations) {
  std::vector<std::vector<const Operation*>> launches;
  for (const Operation& operation : operations) {
    const auto same = [&](const auto& launch) {
      return launch[0]->communicator == operation.communicator &&
             launch[0]->stream == operation.stream;
    };
    auto at = std::ranges::find_if(launches, same);
    if (at == launches.end()) at = launches.insert(at, {{}});
    at->push_back(&operation);
  }
  for (const auto& launch : launches) {
    if (const Status status = Launch(launch)) return status;
  }
  return kSuccess;
}

// An operation whose buffers are known by the multiples of `count` that it reads and writes.
Status Run(const char* call, Kind kind, Communicator* communicator, CUstream stream, uint64_t count,
           int type, const void* from, uint64_t reads, const void* to, uint64_t writes,
           int64_t peer = -1, int reduction = 0) {
  if (communicator == nullptr || BytesOf(type) == 0) return kInvalidArgument;
  if (peer < -1 || peer >= static_cast<int64_t>(communicator->ranks)) return kInvalidArgument;
  if (count == 0) return kSuccess;
  const uint64_t bytes = count * BytesOf(type);
  Operation operation{call, kind, communicator, stream, count, type, peer};
  operation.read = {reads != 0 ? from : nullptr, bytes * reads};
  operation.written = {writes != 0 ? to : nullptr, bytes * writes};
  const auto factor = communicator->factors.find(reduction);
  if (factor != communicator->factors.end()) operation.factor = factor->second;
  return Submit(operation);
}

uint64_t Ranks(const Communicator* communicator) {
  return communicator != nullptr ? communicator->ranks : 0;
}
bool IsRoot(const Communicator* communicator, int root) {
  return communicator != nullptr && communicator->rank == static_cast<uint32_t>(root);
}

}  // namespace

Status Wait(std::function<Status()> wait) {
  if (group.depth == 0) return wait();
  group.waits.push_back(std::move(wait));
  return kSuccess;
}

Status Submit(const Operation& operation) {
  if (group.depth == 0) return Launch({&operation});
  group.operations.push_back(operation);
  return kSuccess;
}

}  // namespace graphkit::soft::nccl

using namespace graphkit::soft::nccl;

extern "C" {

STAND_IN int ncclGroupStart() {
  ++group.depth;
  return kSuccess;
}
STAND_IN int ncclGroupEnd() {
  if (group.depth == 0) return kInvalidUsage;
  if (group.depth > 1) return --group.depth, kSuccess;
  Status status = kSuccess;
  for (size_t i = 0; i < group.waits.size() && status == kSuccess; ++i) {  // one may add others
    status = std::function(group.waits[i])();
  }
  const Group ended = std::exchange(group, {});
  return status != kSuccess ? status : LaunchAll(ended.operations);
}

STAND_IN int ncclAllReduce(const void* from, void* to, size_t count, int type, int reduction,
                           Communicator* c, CUstream stream) {
  return Run("ncclAllReduce", kAllReduce, c, stream, count, type, from, 1, to, 1, -1, reduction);
}
STAND_IN int ncclAllGather(const void* from, void* to, size_t count, int type, Communicator* c,
                           CUstream stream) {
  return Run("ncclAllGather", kAllGather, c, stream, count, type, from, 1, to, Ranks(c));
}
STAND_IN int ncclReduceScatter(const void* from, void* to, size_t count, int type, int reduction,
                               Communicator* c, CUstream stream) {
  return Run("ncclReduceScatter", kReduceScatter, c, stream, count, type, from, Ranks(c), to, 1, -1,
             reduction);
}
STAND_IN int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                           Communicator* c, CUstream stream) {
  return Run("ncclBroadcast", kBroadcast, c, stream, count, type, from, IsRoot(c, root), to, 1,
             root);
}
STAND_IN int ncclBcast(void* buffer, size_t count, int type, int root, Communicator* c,
                       CUstream stream) {
  const bool is_root = IsRoot(c, root);
  return Run("ncclBcast", kBroadcast, c, stream, count, type, buffer, is_root, buffer, !is_root,
             root);
}
STAND_IN int ncclReduce(const void* from, void* to, size_t count, int type, int reduction, int root,
                        Communicator* c, CUstream stream) {
  return Run("ncclReduce", kReduce, c, stream, count, type, from, 1, to, IsRoot(c, root), root,
             reduction);
}
STAND_IN int ncclGather(const void* from, void* to, size_t count, int type, int root,
                        Communicator* c, CUstream stream) {
  return Run("ncclGather", kGather, c, stream, count, type, from, 1, to,
             IsRoot(c, root) ? Ranks(c) : 0, root);
}
STAND_IN int ncclScatter(const void* from, void* to, size_t count, int type, int root,
                         Communicator* c, CUstream stream) {
  return Run("ncclScatter", kScatter, c, stream, count, type, from, IsRoot(c, root) ? Ranks(c) : 0,
             to, 1, root);
}
STAND_IN int ncclAlltoAll(const void* from, void* to, size_t count, int type, Communicator* c,
                          CUstream stream) {
  return Run("ncclAlltoAll", kAllToAll, c, stream, count, type, from, Ranks(c), to, Ranks(c));
}
STAND_IN int ncclSend(const void* from, size_t count, int type, int peer, Communicator* c,
                      CUstream stream) {
  return Run("ncclSend", kSend, c, stream, count, type, from, 1, nullptr, 0, peer);
}
STAND_IN int ncclRecv(void* to, size_t count, int type, int peer, Communicator* c,
                      CUstream stream) {
  return Run("ncclRecv", kReceive, c, stream, count, type, nullptr, 0, to, 1, peer);
}

// A sum of what was multiplied by a factor, which is read now, or on the device by each operation.
STAND_IN int ncclRedOpCreatePreMulSum(int* operation, void* factor, int type, int residence,
                                      Communicator* c) {
  constexpr int kBuiltIn = 5, kOnDevice = 0;
  if (operation == nullptr || c == nullptr || BytesOf(type) == 0) return kInvalidArgument;
  *operation = kBuiltIn + c->operations++;
  if (residence == kOnDevice) c->factors[*operation] = {factor, BytesOf(type)};
  return kSuccess;
}
STAND_IN int ncclRedOpDestroy(int operation, Communicator* c) {
  if (c == nullptr) return kInvalidArgument;
  c->factors.erase(operation);
  return kSuccess;
}
}
