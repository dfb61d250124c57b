// Making communicators, of a unique id and of one another, and what they answer. Their ranks meet
// in memory that processes of one machine share.
#include "plugins/soft_cuda/libraries/nccl/communicator.h"

#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <random>

namespace graphkit::soft::nccl {
namespace {

constexpr int kVersion = 23007;
constexpr int kNoColour = -1;

struct UniqueId {
  char text[128];
};

// FNV-1a.
uint64_t Hash(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string NameOf(const UniqueId& id) { return {id.text, strnlen(id.text, sizeof id.text)}; }

// The name of a communicator that some ranks of another make together.
std::string ChildName(Communicator& parent, int64_t which) {
  char text[64];
  std::snprintf(text, sizeof text, "/graphkit-nccl-%016llx-%u-%lld",
                static_cast<unsigned long long>(parent.key()), parent.children++,
                static_cast<long long>(which));
  return text;
}

Status StatusOf(Entry entry) {
  if (entry == Entry::kJoined) return kSuccess;
  return entry == Entry::kNoMemory ? kSystemError : kInvalidUsage;
}

// As the runtime does: a thread that has chosen no device is on the first.
CUcontext CurrentContext() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxGetCurrent(&context) != CUDA_SUCCESS) return nullptr;
  if (context == nullptr && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS) {
    cuCtxSetCurrent(context);
  }
  return context;
}

// The ranks of a colour in the order of their keys, and of their ranks where these are the same.
Status StartSplit(Communicator& parent, const std::vector<Words>& said, Communicator** out) {
  const auto [colour, own_key] = said[parent.rank];
  const std::string name = ChildName(parent, colour);
  if (colour == kNoColour) return kSuccess;
  uint32_t ranks = 0, before = 0;
  for (uint32_t rank = 0; rank < parent.ranks; ++rank) {
    if (said[rank][0] != colour) continue;
    ++ranks;
    before += std::pair(said[rank][1], rank) < std::pair(own_key, parent.rank);
  }
  return Start(name, ranks, before, out);
}

// The NVTX range that NCCL has in its domain around the end of a communicator, for tools.
struct EndPayload {
  uint64_t communicator;
  int ranks, rank, device;
};
uint64_t EndSchema(nvtxDomainHandle_t domain) {
  const auto entry = [](uint64_t type, const char* name, size_t offset) {
    nvtxPayloadSchemaEntry_t made{};
    made.type = type;
    made.name = name;
    made.offset = offset;
    return made;
  };
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID",
            offsetof(EndPayload, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(EndPayload, ranks)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(EndPayload, rank)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(EndPayload, device))};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = std::size(entries);
  schema.payloadStaticSize = sizeof(EndPayload);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void SayEnd(const Communicator& communicator, const char* call) {
  static nvtxDomainHandle_t const domain = nvtxDomainCreateA("NCCL");
  static const uint64_t schema = EndSchema(domain);
  const EndPayload payload{communicator.key(), static_cast<int>(communicator.ranks),
                           static_cast<int>(communicator.rank), communicator.device};
  const nvtxPayloadData_t data{schema, sizeof payload, &payload};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = call;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<uint64_t>(&data);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}

}  // namespace

uint64_t Communicator::key() const { return Hash(name); }

uint64_t BytesOf(int type) {
  static constexpr uint64_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? kBytes[type] : 0;
}

Status Start(const std::string& name, uint32_t ranks, uint32_t rank, Communicator** out) {
  auto made = std::make_unique<Communicator>();
  made->context = CurrentContext();
  if (made->context == nullptr) return kCudaError;
  cuCtxGetDevice(&made->device);
  Entry entry;
  made->meeting = Meeting::Join(name, ranks, rank, &entry);
  if (made->meeting == nullptr) return StatusOf(entry);
  made->name = name;
  made->ranks = ranks;
  made->rank = rank;
  made->meeting->Say({});
  Communicator* communicator = *out = made.release();
  return Wait([communicator] {
    communicator->meeting->Hear("ncclCommInitRank");
    return kSuccess;
  });
}

}  // namespace graphkit::soft::nccl

using namespace graphkit::soft::nccl;

extern "C" {

STAND_IN int ncclGetVersion(int* version) {
  if (version == nullptr) return kInvalidArgument;
  *version = kVersion;
  return kSuccess;
}
STAND_IN int ncclGetUniqueId(UniqueId* id) {
  if (id == nullptr) return kInvalidArgument;
  std::random_device random;
  *id = {};
  std::snprintf(id->text, sizeof id->text, "/graphkit-nccl-%d-%08x%08x", getpid(), random(),
                random());
  return kSuccess;
}
STAND_IN int ncclCommInitRankConfig(Communicator** out, int ranks, UniqueId id, int rank, void*) {
  if (out == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return kInvalidArgument;
  const std::string name = NameOf(id);
  if (!name.starts_with("/graphkit-nccl-")) return kInvalidArgument;
  return Start(name, static_cast<uint32_t>(ranks), static_cast<uint32_t>(rank), out);
}
STAND_IN int ncclCommInitRank(Communicator** out, int ranks, UniqueId id, int rank) {
  return ncclCommInitRankConfig(out, ranks, id, rank, nullptr);
}
STAND_IN int ncclCommInitRankScalable(Communicator** out, int ranks, int rank, int ids,
                                      const UniqueId* given, void*) {
  if (ids < 1 || given == nullptr) return kInvalidArgument;
  return ncclCommInitRankConfig(out, ranks, given[0], rank, nullptr);
}

int ncclGroupStart();
int ncclGroupEnd();
STAND_IN int ncclCommInitAll(Communicator** out, int devices, const int* list) {
  if (out == nullptr || devices < 1) return kInvalidArgument;
  cuInit(0);
  UniqueId id;
  ncclGetUniqueId(&id);
  ncclGroupStart();
  int status = kSuccess;
  for (int i = 0; i < devices && status == kSuccess; ++i) {
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, list != nullptr ? list[i] : i);
    if (context != nullptr) cuCtxPushCurrent(context);
    status = context != nullptr ? ncclCommInitRank(&out[i], devices, id, i) : kInvalidArgument;
    if (context != nullptr) cuCtxPopCurrent(nullptr);
  }
  const int ended = ncclGroupEnd();
  return status != kSuccess ? status : ended;
}

STAND_IN int ncclCommSplit(Communicator* parent, int colour, int key, Communicator** out, void*) {
  if (parent == nullptr || out == nullptr || colour < kNoColour) return kInvalidArgument;
  *out = nullptr;
  parent->meeting->Say({colour, key});
  return Wait(
      [parent, out] { return StartSplit(*parent, parent->meeting->Hear("ncclCommSplit"), out); });
}
STAND_IN int ncclCommShrink(Communicator* parent, const int* excluded, int count,
                            Communicator** out, void*, int) {
  if (parent == nullptr || out == nullptr || excluded == nullptr || count < 1)
    return kInvalidArgument;
  const auto rank = static_cast<int>(parent->rank);
  if (std::count(excluded, excluded + count, rank) != 0) return kInvalidArgument;
  const auto before = std::count_if(excluded, excluded + count, [&](int r) { return r < rank; });
  return Start(ChildName(*parent, count), parent->ranks - static_cast<uint32_t>(count),
               parent->rank - static_cast<uint32_t>(before), out);
}
STAND_IN int ncclCommFinalize(Communicator* communicator) {
  return communicator != nullptr ? kSuccess : kInvalidArgument;
}
STAND_IN int ncclCommDestroy(Communicator* communicator) {
  if (communicator != nullptr) SayEnd(*communicator, "ncclCommDestroy");
  delete communicator;
  return kSuccess;
}
STAND_IN int ncclCommAbort(Communicator* communicator) {
  if (communicator != nullptr) SayEnd(*communicator, "ncclCommAbort");
  delete communicator;
  return kSuccess;
}

#define ANSWER(Name, value)                                                 \
  STAND_IN int ncclComm##Name(const Communicator* communicator, int* out) { \
    if (communicator == nullptr || out == nullptr) return kInvalidArgument; \
    *out = static_cast<int>(value);                                         \
    return kSuccess;                                                        \
  }
ANSWER(Count, communicator->ranks)
ANSWER(UserRank, communicator->rank)
ANSWER(CuDevice, communicator->device)
ANSWER(GetAsyncError, kSuccess)

STAND_IN const char* ncclGetLastError(const Communicator*) { return ""; }
STAND_IN const char* ncclGetErrorString(int status) {
  static constexpr const char* kTexts[] = {"no error",
                                           "unhandled cuda error",
                                           "unhandled system error",
                                           "internal error",
                                           "invalid argument",
                                           "invalid usage",
                                           "remote process exited or there was a network error",
                                           "NCCL operation in progress",
                                           "timeout"};
  return status >= 0 && status < 9 ? kTexts[status] : "unknown result code";
}
}
