#include "tools/graphkit/survive/registrations.h"

#include <algorithm>
#include <set>

#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

struct RegistrationFinder {
  std::vector<Registration> Find() {
    for (const ContentRange& range : content) touched.push_back(range.bytes);
    touched = Union(std::move(touched));
    if (!facts.communication().empty()) AddCommunication();
    for (const auto& [i, block] : Enumerate(trace.blocks)) {
      if (block.free_requested < end || block.allocated > end) continue;
      if (IsRegistered(trace, block)) {
        AddHost(BlockId(i));
      } else if (IsImported(trace, block)) {
        Add(RegistrationKind::kImported, BlockId(i), TouchedBytes(AddressesOf(block)));
      } else if (IsShared(block)) {
        Add(RegistrationKind::kShared, BlockId(i), TouchedBytes(AddressesOf(block)));
      }
    }
    std::erase_if(found, [](const Registration& of) { return of.bytes == 0; });
    std::ranges::sort(found, {}, &Registration::kind);
    return std::move(found);
  }

  bool IsShared(const Block& block) const {
    return (block.same_as.valid() ? trace[block.same_as] : block).shared < end;
  }

  void Add(RegistrationKind kind, BlockId block, Bytes bytes) {
    const auto known = std::ranges::find(found, kind, &Registration::kind);
    Registration& of =
        known != found.end() ? *known : found.emplace_back(Registration{.kind = kind});
    if (!of.first.valid() && bytes != 0) of.first = block;
    of.bytes += bytes;
  }

  void AddHost(BlockId id) {
    const bool used = std::ranges::any_of(
        facts.lives().Touches(id), [&](NodeId node) { return runs[facts.RootOf(node).index()]; });
    if (used) Add(RegistrationKind::kHost, id, trace[id].size);
  }

  Bytes TouchedBytes(Range of) const {
    Bytes bytes = 0;
    const auto from = std::ranges::upper_bound(touched, of.begin, {}, &Range::end);
    for (auto at = from; at != touched.end() && at->begin < of.end; ++at)
      bytes += Common(*at, of).size();
    return bytes;
  }

  // What kernels of graphs exchange with other devices.
  void AddCommunication() {
    FindMappings();
    std::vector<Range> ranges;
    BlockId first;
    for (const NodeId id : trace.graph_nodes) {
      const Node& node = trace[id];
      if (!runs[facts.RootOf(id).index()] || !facts.communication().Has(node.kernel)) continue;
      for (const Access& access : trace.accesses.Of(node.accesses)) {
        const Block block = trace[access.block];
        const Interval<Bytes> bytes = BytesOf(access, block.size);
        if (KindOf(trace, block.pool) == PoolKind::kHost || block.address == 0) continue;
        ranges.push_back({block.address + bytes.begin, block.address + bytes.end});
        if (!first.valid()) first = access.block;
      }
    }
    Registration of{.kind = RegistrationKind::kCommunication, .first = first};
    for (const Range& range : Union(std::move(ranges))) {
      of.bytes += range.size();
      AddLost(range, &of);
    }
    found.push_back(of);
  }

  // Mappings that were shared and are gone, and those that are there now and aren't.
  void FindMappings() {
    for (const auto& [i, block] : Enumerate(trace.blocks)) {
      if (!block.mapped) continue;
      const bool there = block.allocated < end && block.free_requested > end;
      if (IsShared(block) && !there) shared_once.push_back(AddressesOf(block));
      if (!IsShared(block) && there) unshared.emplace_back(i);
    }
    shared_once = Union(std::move(shared_once));
  }
  // Of bytes that were shared once, those that lie in memory that isn't, now.
  void AddLost(Range bytes, Registration* of) const {
    for (const BlockId now : unshared) {
      for (const Range& before : shared_once) {
        const Range both = Common(Common(AddressesOf(Block(trace[now])), before), bytes);
        if (both.empty()) continue;
        of->lost += both.size();
        if (!of->lost_first.valid()) of->lost_first = now;
      }
    }
  }

  const Facts& facts;
  std::span<const ContentRange> content;
  const Ran& trace = facts.trace;
  const std::vector<bool> runs = GraphsThatRun(facts);
  const Seq end = trace.launches.empty() ? kNever - 1 : trace.launches.back().seq;
  std::vector<Range> touched = {}, shared_once = {};
  std::vector<BlockId> unshared = {};
  std::vector<Registration> found = {};
};

}  // namespace

std::vector<Registration> FindRegistrations(const Facts& facts,
                                            std::span<const ContentRange> content) {
  return RegistrationFinder{facts, content}.Find();
}

HeldByGraphs FindHeldByGraphs(const Facts& facts) {
  const std::vector<bool> runs = GraphsThatRun(facts);
  HeldByGraphs held;
  std::set<KernelId> kernels;
  std::set<EventId> events;
  for (const NodeId id : facts.trace.graph_nodes) {
    const Node& node = facts.trace[id];
    if (!runs[facts.RootOf(id).index()]) continue;
    if (node.kernel.valid()) kernels.insert(node.kernel);
    if (node.event.valid()) events.insert(node.event);
    if (node.kind == NodeKind::kHost) ++held.host_functions;
  }
  held.kernels = kernels.size();
  held.events = events.size();
  return held;
}

}  // namespace graphkit
