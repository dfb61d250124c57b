#include "plugins/cupti_tracer/recorder/communicators.h"

#include <algorithm>
#include <optional>

#include "plugins/cupti_tracer/calls/calls.h"

namespace graphkit {
namespace {

std::optional<CollectiveKind> KindOf(std::string_view call) {
  using enum CollectiveKind;
  static constexpr std::pair<std::string_view, CollectiveKind> kCalls[] = {
      {"ncclAllReduce", kAllReduce},
      {"ncclAllGather", kAllGather},
      {"ncclReduceScatter", kReduceScatter},
      {"ncclBroadcast", kBroadcast},
      {"ncclReduce", kReduce},
      {"ncclGather", kGather},
      {"ncclScatter", kScatter},
      {"ncclAlltoAll", kAllToAll},
      {"ncclSend", kSend},
      {"ncclRecv", kReceive}};
  const auto* found =
      std::ranges::find(kCalls, call, &std::pair<std::string_view, CollectiveKind>::first);
  return found == std::end(kCalls) ? std::nullopt : std::optional(found->second);
}

bool Ends(std::string_view call) { return call == "ncclCommDestroy" || call == "ncclCommAbort"; }

}  // namespace

void Communicators::OnRangePushed(ThreadState& thread, std::string_view name,
                                  const NcclPayload* payload) {
  ++thread.nccl_ranges;
  if (name == "ncclGroupStart") ++thread.nccl_groups;
  if (payload == nullptr || payload->communicator == 0) return;
  if (Ends(name)) return OnDestroyed(*payload);
  if (const auto kind = KindOf(name)) {
    thread.nccl_calls.push_back({payload->communicator, *kind, payload->bytes, payload->peer});
  }
}

void Communicators::OnRangePopped(ThreadState& thread, std::string_view name,
                                  const NcclPayload* payload) {
  if (thread.nccl_ranges > 0) --thread.nccl_ranges;
  if (name == "ncclGroupEnd" && thread.nccl_groups > 0) --thread.nccl_groups;
  if (thread.nccl_groups == 0) thread.nccl_calls.clear();
  if (payload == nullptr || payload->communicator == 0) return;
  if (Ends(name)) return OnDestroyed(*payload);
  // A split's payload has the ranks of what was split: the plugin knows better.
  if (name.starts_with("ncclCommInitRank")) {
    OnCommunicator(thread, payload->communicator, payload->ranks, payload->rank);
  }
}

void Communicators::OnCommunicator(const ThreadState& thread, uint64_t key, int32_t ranks,
                                   int32_t rank) {
  if (rank < 0 || rank >= ranks) return;
  const Known made{key, static_cast<uint32_t>(ranks), static_cast<uint32_t>(rank), thread.context};
  const auto known = std::ranges::find_if(
      known_, [&](const Known& other) { return other.key == key && other.rank == made.rank; });
  if (known == known_.end()) {
    known_.push_back(made);
  } else if (known->context == 0) {
    *known = made;
  }
}

void Communicators::OnDestroyed(const NcclPayload& payload) {
  const auto rank = static_cast<uint32_t>(payload.rank);
  std::erase_if(known_, [&](const Known& known) {
    return known.key == payload.communicator && known.rank == rank;
  });
  const auto id = ids_.find({payload.communicator, rank});
  if (id == ids_.end()) return;
  records_.WriteEnd<CommunicatorDestroyedRecord>(id->second, Source::kCallback);
  ids_.erase(id);
}

// Of several ranks of one process the one whose device it is.
const Communicators::Known* Communicators::Find(uint64_t key, uint64_t context) const {
  const Known* found = nullptr;
  for (const Known& known : known_) {
    if (known.key != key) continue;
    if (known.context == context) return &known;
    if (found != nullptr) return nullptr;
    found = &known;
  }
  return found;
}

CommunicatorId Communicators::IdOf(uint64_t key, uint32_t ranks, uint32_t rank) {
  const auto [id, is_new] = ids_.emplace(std::pair(key, rank), CommunicatorId(next_));
  if (!is_new) return id->second;
  ++next_;
  CommunicatorRecord r;
  r.id = id->second;
  r.row.key = key;
  r.row.ranks = ranks;
  r.row.rank = rank;
  records_.Write(r);
  return id->second;
}

void Communicators::Attach(ThreadState& thread, const Call& call, Work& work) {
  if (thread.nccl_ranges == 0 || !work.collectives.empty()) return;
  std::erase_if(thread.nccl_calls, [&](const NcclCall& pending) {
    const Known* known = Find(pending.communicator, call.context);
    if (known == nullptr) return false;
    const bool elsewhere = known->context != 0 && known->context != call.context;
    if (elsewhere) return false;  // a group of several devices: another kernel's
    if (known->ranks < 2) return true;
    Collective collective;
    collective.communicator = IdOf(known->key, known->ranks, known->rank);
    collective.kind = pending.kind;
    collective.type = ElementType::kByte;
    collective.count = pending.bytes;
    collective.peer = pending.peer;
    work.collectives.push_back(collective);
    return true;
  });
}

void Communicators::Add(const CollectiveParam& found, Work& work) {
  if (found.kind >= Names<CollectiveKind>::value.size() ||
      found.type >= Names<ElementType>::value.size())
    return;
  Collective collective;
  collective.communicator = IdOf(found.communicator, found.ranks, found.rank);
  collective.kind = static_cast<CollectiveKind>(found.kind);
  collective.type = static_cast<ElementType>(found.type);
  collective.count = found.count;
  collective.peer = static_cast<int32_t>(found.peer);
  work.collectives.push_back(collective);
}

}  // namespace graphkit
