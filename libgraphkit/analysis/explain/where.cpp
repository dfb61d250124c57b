#include "libgraphkit/analysis/explain/where.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/checked_number.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/ran/node_changes.h"

namespace graphkit {
namespace {

// A block that ends at a record is there at the record.
bool EndsAfter(Seq end, Seq at) { return end == kNever || end > at; }

bool IsBlock(const AddressHolder& holder) { return holder.block.valid() && !holder.backs_segment; }

std::vector<AddressHolder> FindHolders(const Facts& facts, Address address) {
  const Ran& trace = facts.trace;
  std::vector<AddressHolder> holders;
  const auto add = [&](AddressHolder holder) {
    if (AddressesOf(holder.is).contains(address)) holders.push_back(holder);
  };
  for (const auto& [i, segment] : Enumerate(trace.segments)) {
    add({.segment = SegmentId(i),
         .is = {.address = segment.address,
                .size = segment.size,
                .allocated = segment.allocated,
                .free_requested = segment.freed,
                .free_completed = segment.freed}});
  }
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    add({.block = BlockId(i),
         .backs_segment = facts.lives().backs_segment[i],
         .graph = facts.lives()[BlockId(i)].root,
         .is = trace.blocks[i]});
  }
  std::ranges::stable_sort(holders, {},
                           [](const AddressHolder& holder) { return holder.is.allocated; });
  return holders;
}

// Of the device that the holders lie on.
std::vector<Seq> EventsOf(const Ran& trace, const std::vector<AddressHolder>& holders) {
  if (HistoryOf(trace) == nullptr) return {};
  const auto block = std::ranges::find_if(holders, IsBlock);
  return PlacesOfEvents(trace,
                        block == holders.end() ? 0 : DevicesOfBlocks(trace)[block->block.index()]);
}

// Launches of the graph may follow the record: it, or an exec of it, is there.
bool CanRun(const Ran& trace, GraphId graph, Seq at) {
  if (trace[graph].created > at) return false;
  if (EndsAfter(trace[graph].destroyed, at)) return true;
  return std::ranges::any_of(trace.exec_graphs, [&](const ExecGraph& of) {
    return of.graph == graph && of.since <= at && EndsAfter(of.until, at);
  });
}

AddressState StateAfter(const Ran& trace, const AddressHolder& holder, Seq at) {
  if (holder.is.allocated > at) return AddressState::kNever;
  const bool held = EndsAfter(holder.is.free_completed, at);
  if (held && !IsBlock(holder)) return AddressState::kIdle;
  if (EndsAfter(holder.is.free_requested, at)) return AddressState::kAlive;
  if (held) return AddressState::kDeferred;
  const bool runs = IsBlock(holder) && holder.graph.valid() && CanRun(trace, holder.graph, at);
  return runs ? AddressState::kGraph : AddressState::kFreed;
}

// The strongest state; of these the launched graph's, blocks, and the latest.
void SetState(const Ran& trace, GraphId launched, Whereabouts* where) {
  std::tuple best{AddressState::kNever, true, true, ~Seq{0}};
  for (const auto& [i, holder] : Enumerate(where->holders)) {
    const AddressState state = StateAfter(trace, holder, where->moment.at);
    if (state == AddressState::kNever) continue;
    const bool freed = state == AddressState::kFreed;
    const auto freed_at = [&](size_t of) { return where->holders[of].is.free_completed; };
    if (freed && IsBlock(holder) && (!where->last || freed_at(*where->last) <= freed_at(i)))
      where->last = i;
    const bool elsewhere = !launched.valid() || holder.graph != launched;
    const std::tuple claim{state, elsewhere, !IsBlock(holder), freed ? ~freed_at(i) : 0};
    if (claim > best) continue;
    best = claim;
    where->state = state;
    where->holder = i;
  }
  if (where->state != AddressState::kIdle) where->last = std::nullopt;
}

AddressPointer::State StateFor(const AddressHolder& holder, GraphId graph, Seq at) {
  if (holder.graph.valid() && holder.graph == graph) return AddressPointer::State::kOwn;
  const bool there = EndsAfter(holder.is.free_requested, at);
  return there ? AddressPointer::State::kAlive : AddressPointer::State::kStale;
}

void AddLaunches(const Facts& facts, Seq at, AddressPointer* pointer) {
  const Ran& trace = facts.trace;
  const bool stale = pointer->state == AddressPointer::State::kStale;
  const Seq since = stale ? trace[pointer->block].free_requested : 0;
  std::set<ExecId> execs;
  for (const uint32_t taken : facts.exec_graphs().Of(pointer->graph.index())) {
    if (trace.exec_graphs[taken].since <= at) execs.insert(trace.exec_graphs[taken].exec);
  }
  for (const uint32_t launch : facts.launches()[pointer->graph.index()]) {
    const Launch& row = trace.launches[launch];
    if (row.seq > at) break;
    execs.insert(row.exec);
    if (row.seq < since) continue;
    ++pointer->launches;
    if (!pointer->first_launch) pointer->first_launch = launch;
  }
  pointer->execs.assign(execs.begin(), execs.end());
}

std::vector<AddressPointer> FindPointers(const Facts& facts, const Whereabouts& where) {
  const Seq at = where.moment.at;
  const NodeChanges changes(facts.trace);
  std::map<std::tuple<bool, GraphId, BlockId>, AddressPointer> found;
  for (const AddressHolder& holder : where.holders) {
    if (!holder.block.valid() || holder.is.allocated > at) continue;
    const Access there{.offset = where.address - holder.is.address, .length = 1};
    ForEachAccess(facts.trace, facts.lives(), holder.block, [&](NodeId node, const Access& access) {
      if (facts.trace[node].seq > at || Overlap(access, there) == Ternary::kNo) return;
      const GraphId graph = facts.RootOf(node);
      const AddressPointer::State state = StateFor(holder, graph, at);
      AddressPointer& pointer =
          found[{state != AddressPointer::State::kStale, graph, holder.block}];
      pointer.graph = graph;
      pointer.block = holder.block;
      pointer.state = state;
      pointer.changed = pointer.changed || changes.Changed(node, at);
      if (pointer.nodes.empty() || pointer.nodes.back() != node) pointer.nodes.push_back(node);
    });
  }
  std::vector<AddressPointer> pointers;
  for (auto& [key, pointer] : found) {
    AddLaunches(facts, at, &pointer);
    pointers.push_back(std::move(pointer));
  }
  return pointers;
}

// Of blocks at the same distance the smallest, and of these the latest.
std::vector<AddressNeighbour> FindNeighbours(const Ran& trace, Address address, Seq at) {
  std::map<bool, AddressNeighbour> near;  // below, above
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (block.allocated > at || !EndsAfter(block.free_completed, at)) continue;
    if (AddressesOf(block).contains(address)) continue;
    const bool above = block.address > address;
    const Address end = block.address + block.size;
    const Bytes distance = above ? block.address - address : address - end;
    AddressNeighbour& best = near[above];
    const bool first = !best.block.valid();
    if (!first &&
        std::pair(distance, block.size) > std::pair(best.distance, trace[best.block].size))
      continue;
    best = {BlockId(i), above, distance};
  }
  std::vector<AddressNeighbour> neighbours;
  for (const auto& [above, neighbour] : near) neighbours.push_back(neighbour);
  return neighbours;
}

std::optional<uint32_t> LaunchIn(std::string_view text) {
  if (!text.starts_with("launch ") && !text.starts_with("launch:")) return std::nullopt;
  text.remove_prefix(text.find_first_of(" :") + 1);
  return ParseNumber<uint32_t>(text);
}

}  // namespace

Whereabouts FindWhere(const Facts& facts, Address address, const Moment& moment) {
  Whereabouts where{.address = address, .moment = moment};
  where.holders = FindHolders(facts, address);
  where.events = EventsOf(facts.trace, where.holders);
  SetState(facts.trace, moment.launch ? facts.ran()[*moment.launch] : GraphId(), &where);
  where.pointers = FindPointers(facts, where);
  where.neighbours = FindNeighbours(facts.trace, address, moment.at);
  return where;
}

std::string CheckLaunchOrMoment(const std::string& text) {
  if (LaunchIn(text) || CheckMoment(text).empty()) return "";
  return "invalid moment '" + text + "'; write launch:N, peak, end, or the number of an event";
}

Result<Moment> FindMoment(const std::string& text, const Ran& trace) {
  if (const auto launch = LaunchIn(text)) {
    if (*launch < trace.launches.size()) return Moment{trace.launches[*launch].seq, launch};
    return Error{.message = "--at " + text + ": it has " +
                            Counted(trace.launches.size(), "launch") + ", the first is 0",
                 .hint = "write end, or a lower number"};
  }
  const Result<HeldAt> held = FindHeldAt(text, trace);
  if (!held) return held.error();
  return Moment{.at = held->seq};
}

}  // namespace graphkit
