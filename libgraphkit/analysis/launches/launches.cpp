#include "libgraphkit/analysis/launches/launches.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

constexpr uint32_t kNoRow = 0xffffffffu;

// A pool's memory is still what the block had of it, if it wasn't handed out.
bool PoolStillThere(const Trace& trace, const Block& block, Seq at) {
  if (!block.pool.valid() || trace[block.pool].kind != PoolKind::kPrivate) return false;
  if (trace[block.pool].destroyed < at) return false;
  return block.segment.valid() && trace[block.segment].freed >= at;
}

// Of a segment: where the next block will be allocated, looking backwards.
class NextOwners {
 public:
  // From here on the bytes are allocated at `seq` next, which is before what was said so far.
  void Put(Address begin, Address end, Seq seq) {
    if (begin >= end) return;
    auto at = pieces_.upper_bound(begin);
    if (at != pieces_.begin() && std::prev(at)->second.end > begin) {
      const Piece over = std::prev(at)->second;
      std::prev(at)->second.end = begin;
      if (over.end > end) pieces_.emplace(end, over);
    }
    at = pieces_.lower_bound(begin);
    while (at != pieces_.end() && at->first < end) {
      const Piece over = at->second;
      at = pieces_.erase(at);
      if (over.end > end) pieces_.emplace(end, over);
    }
    pieces_.emplace(begin, Piece{end, seq});
  }

  Seq First(Address begin, Address end, uint64_t* looks) const {
    Seq first = kNever;
    auto at = pieces_.upper_bound(begin);
    if (at != pieces_.begin()) --at;
    for (; at != pieces_.end() && at->first < end; ++at, ++*looks) {
      if (at->second.end > begin) first = std::min(first, at->second.seq);
    }
    return first;
  }

 private:
  struct Piece {
    Address end = 0;
    Seq seq = 0;
  };
  std::map<Address, Piece> pieces_;
};

class FateFinder {
 public:
  FateFinder(const MemoryFacts& facts, std::span<const FreedBlock> freed)
      : facts_(facts), trace_(facts.trace), freed_(freed), fates_(freed.size()) {}

  std::vector<FreedFate> Find(uint64_t* looks) {
    if (!freed_.empty()) {
      FindHandedOut();
      FindReplaced();
    }
    if (looks != nullptr) *looks = looks_;
    return std::move(fates_);
  }

 private:
  // Blocks allocated by the same code that are alike.
  using Site = std::tuple<bool, uint32_t, uint32_t, uint32_t>;
  using Kind = std::tuple<Bytes, PoolId, StreamId, Site>;

  template <typename Value>
  std::vector<size_t> Sorted(Value value) const {
    std::vector<size_t> order(freed_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, value);
    return order;
  }

  // Backwards, so that the last one to claim some bytes is the first after the free.
  void FindHandedOut() {
    std::map<SegmentId, NextOwners> owners;
    for (const FreedBlock& freed : freed_) {
      const SegmentId segment = trace_[freed.block].segment;
      if (segment.valid()) owners[segment];
    }
    const auto from = [&](size_t i) {
      return std::max(trace_[freed_[i].block].free_requested, freed_[i].written);
    };
    const std::vector<size_t> order = Sorted(from);
    size_t others = trace_.blocks.size();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const Block& block = trace_[freed_[*at].block];
      for (; others > 0; --others) {
        const Block& other = trace_.blocks[others - 1];
        if (other.allocated <= from(*at)) break;
        ++looks_;
        const auto own = owners.find(other.segment);
        if (own == owners.end() || other.graph.valid()) continue;
        own->second.Put(other.address, other.address + other.size, other.allocated);
      }
      if (!block.segment.valid()) continue;
      const Seq first =
          owners[block.segment].First(block.address, block.address + block.size, &looks_);
      fates_[*at].handed_out = first < freed_[*at].at;
    }
  }

  // Forwards, with what is alive of each kind that is asked for.
  void FindReplaced() {
    std::map<Kind, std::set<std::pair<Seq, BlockId>>> alive;
    std::map<std::pair<Kind, Address>, uint32_t> places;  // how many of them are there
    for (const FreedBlock& freed : freed_) {
      const Kind kind = KindOf(freed.block);
      alive[kind];
      places[{kind, trace_[freed.block].address}];
    }
    const std::vector<uint32_t> frees = BlocksBySeq(trace_, &Block::free_requested);
    const std::vector<size_t> order = Sorted([&](size_t i) { return freed_[i].at; });
    size_t made = 0;
    auto gone = frees.begin();
    const auto with = [&](BlockId id, uint32_t more, auto change) {
      ++looks_;
      if (facts_.lives()[id].root.valid()) return;
      Occupy(id, more == 1);
      const Kind kind = KindOf(id);
      const auto of_kind = alive.find(kind);
      if (of_kind == alive.end()) return;
      change(&of_kind->second, std::pair(trace_[id].allocated, id));
      const auto place = places.find({kind, trace_[id].address});
      if (place != places.end()) place->second += more;
    };
    for (const size_t i : order) {
      const Seq at = freed_[i].at;
      for (; made < trace_.blocks.size() && trace_.blocks[made].allocated < at; ++made) {
        with(BlockId(made), 1, [](auto* blocks, const auto& block) { blocks->insert(block); });
      }
      for (; gone != frees.end() && trace_.blocks[*gone].free_requested < at; ++gone) {
        with(BlockId(*gone), ~0u, [](auto* blocks, const auto& block) { blocks->erase(block); });
      }
      const Kind kind = KindOf(freed_[i].block);
      fates_[i].replaced_by = Replacement(freed_[i].block, alive.at(kind));
      fates_[i].occupied = Occupied(trace_[freed_[i].block]);
      fates_[i].remade = places.at({kind, trace_[freed_[i].block].address}) != 0;
    }
  }

  void Occupy(BlockId id, bool made) {
    const Block& block = trace_[id];
    longest_ = std::max(longest_, block.size);
    if (made) {
      occupants_.emplace(block.segment, block.address, id);
    } else {
      occupants_.erase({block.segment, block.address, id});
    }
  }

  bool Occupied(const Block& block) {
    const Address from = block.address - std::min(block.address, longest_);
    auto at = occupants_.lower_bound({block.segment, from, BlockId(size_t{0})});
    for (; block.segment.valid() && at != occupants_.end(); ++at, ++looks_) {
      const Block& other = trace_[std::get<BlockId>(*at)];
      if (other.segment != block.segment || other.address >= block.address + block.size) break;
      if (other.address + other.size > block.address) return true;
    }
    return false;
  }

  // The new one may be made before the old one goes, as `x = load()` does: after the last launch
  // before the free.
  BlockId Replacement(BlockId id, const std::set<std::pair<Seq, BlockId>>& alive) {
    const Block& old = trace_[id];
    const auto launch =
        std::ranges::lower_bound(trace_.launches, old.free_requested, {}, &Launch::seq);
    const Seq since =
        std::max(old.allocated,
                 launch == trace_.launches.begin() ? old.free_requested : std::prev(launch)->seq);
    ++looks_;
    const auto first = alive.upper_bound({since, BlockId()});
    if (first == alive.end() || std::next(first) != alive.end()) return {};
    return trace_[first->second].address != old.address ? first->second : BlockId();
  }

  Kind KindOf(BlockId id) {
    const Block& block = trace_[id];
    return {block.size, block.pool, block.stream, SiteOf(block.stack)};
  }

  Site SiteOf(StackId stack) {
    const auto [at, is_new] = sites_.try_emplace(stack);
    if (is_new) {
      const auto own = CallSiteOf(trace_, stack).own;
      at->second = {false, stack.value, 0, 0};
      if (own) {
        const StackFrame& frame = trace_.stack_frames[*own];
        at->second = {true, frame.function.value, frame.file.value, frame.line};
      }
    }
    return at->second;
  }

  const MemoryFacts& facts_;
  const Trace& trace_;
  std::span<const FreedBlock> freed_;
  std::vector<FreedFate> fates_;
  std::map<StackId, Site> sites_;
  std::set<std::tuple<SegmentId, Address, BlockId>> occupants_;  // alive, not of graphs
  Bytes longest_ = 0;                                            // of these
  uint64_t looks_ = 0;
};

// The last launch before a place of the graph that allocated a block; 0: none.
Seq WrittenBefore(const Facts& facts, BlockId block, Seq at) {
  const GraphId owner = facts.lives()[block].root;
  if (!owner.valid()) return 0;
  Seq last = 0;
  for (const uint32_t launch : facts.launches()[owner.index()]) {
    const Seq seq = facts.trace.launches[launch].seq;
    if (seq < at) last = std::max(last, seq);
  }
  return last;
}

}  // namespace

LaunchOrder::LaunchOrder(const Trace& trace) : LaunchOrder(trace, false) {
  if (trace.threads.size() > 1) by_threads_.reset(new LaunchOrder(trace, true));
}

LaunchOrder::LaunchOrder(const Trace& trace, bool by_threads)
    : trace_(trace),
      streams_(trace.streams.size(), Clock(trace.streams.size())),
      stream_row_(trace.streams.size(), kNoRow),
      events_(trace.events.size()),
      hosts_(by_threads ? 1 : trace.threads.size() + 1, Clock(trace.streams.size())) {
  size_t op = 0;
  const auto place_at = [&](const auto& submitted) {
    for (; op < trace.stream_ops.size() && trace.stream_ops[op].seq < submitted.seq; ++op) {
      Apply(trace.stream_ops[op]);
    }
    return PlaceOn(submitted.stream, submitted.thread);
  };
  for (const Launch& launch : trace.launches) {
    for (size_t i = works_.size(); i < trace.works.size() && trace.works[i].seq < launch.seq; ++i) {
      works_.push_back(place_at(trace.works[i]));
    }
    launches_.push_back(place_at(launch));
  }
}

LaunchOrder::Clock& LaunchOrder::HostOf(ThreadId thread) {
  return hosts_[std::min(thread.index(), hosts_.size() - 1)];
}

void LaunchOrder::Absorb(Clock* into, const Clock& from) {
  for (size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

// Work submitted to a stream comes after all that the thread has waited for; on the legacy stream,
// after all blocking streams; and on a blocking stream, after the legacy stream.
void LaunchOrder::Submit(uint32_t stream, ThreadId thread) {
  const Clock before = streams_[stream];
  Absorb(&streams_[stream], HostOf(thread));
  const Stream& own = trace_.streams[stream];
  for (uint32_t i = 0; i < streams_.size() && !own.non_blocking; ++i) {
    const Stream& other = trace_.streams[i];
    const bool legacy =
        own.kind == StreamKind::kLegacyDefault || other.kind == StreamKind::kLegacyDefault;
    if (i != stream && legacy && !other.non_blocking && other.device == own.device) {
      Absorb(&streams_[stream], streams_[i]);
    }
  }
  if (streams_[stream] != before) stream_row_[stream] = kNoRow;
}

void LaunchOrder::Apply(const StreamOp& op) {
  if (op.capturing) return;
  const bool has_stream = op.stream.index() < streams_.size();
  const bool has_event = op.event.index() < events_.size();
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (!has_stream || !has_event) return;
      Submit(op.stream.value, op.thread);
      events_[op.event.index()] = streams_[op.stream.index()];
      return;
    case StreamOpKind::kEventWait:
      if (!has_stream || !has_event) return;
      Absorb(&streams_[op.stream.index()], events_[op.event.index()]);
      stream_row_[op.stream.index()] = kNoRow;
      return;
    case StreamOpKind::kStreamSync:
      if (has_stream) Absorb(&HostOf(op.thread), streams_[op.stream.index()]);
      return;
    case StreamOpKind::kEventSync:
      if (has_event) Absorb(&HostOf(op.thread), events_[op.event.index()]);
      return;
    case StreamOpKind::kDeviceSync:
      for (const Clock& stream : streams_) Absorb(&HostOf(op.thread), stream);
      return;
    default:
      return;
  }
}

// Of what is submitted to a stream here.
LaunchOrder::Place LaunchOrder::PlaceOn(StreamId id, ThreadId thread) {
  if (id.index() >= streams_.size()) return {};
  const uint32_t stream = id.value;
  Submit(stream, thread);
  if (stream_row_[stream] == kNoRow) {
    stream_row_[stream] = static_cast<uint32_t>(rows_.size());
    rows_.push_back(streams_[stream]);
  }
  const uint32_t seq = streams_[stream][stream]++;
  return {stream, seq, stream_row_[stream]};
}

bool LaunchOrder::Before(const Place& from, const Place& to) const {
  if (from.stream >= streams_.size() || to.stream >= streams_.size()) return true;
  if (from.stream == to.stream) return from.seq < to.seq;
  return rows_[to.row][from.stream] > from.seq;
}

Nanoseconds TimeAt(const Trace& trace, Seq seq) {
  return seq < trace.times.size() ? trace.times[seq] : 0;
}

std::vector<HostTime> FindHostTimes(const Trace& trace) {
  std::vector<HostTime> times(trace.graphs.size());
  std::vector<Nanoseconds> since(trace.graphs.size());  // of an open capture: its last record
  for (const Capture& capture : trace.captures) {
    if (capture.graph.index() >= times.size()) continue;
    const Nanoseconds begin = TimeAt(trace, capture.begin);
    const Nanoseconds end = TimeAt(trace, capture.end);
    if (begin == 0 || end < begin) continue;
    times[capture.graph.index()].total += end - begin;
    since[capture.graph.index()] = begin;
  }
  for (size_t node = 0; node < trace.nodes.size(); ++node) {
    const Node& captured = trace.nodes[node];
    if (captured.graph.index() >= times.size() || !captured.stream.valid()) continue;
    if (captured.source == Source::kDerived) continue;  // no call made it
    HostTime& time = times[captured.graph.index()];
    const Nanoseconds now = TimeAt(trace, captured.seq);
    if (time.total == 0) continue;
    ++time.calls;
    Nanoseconds& last = since[captured.graph.index()];
    if (now == 0) continue;
    if (now > last && now - last > time.longest) {
      time.longest = now - last;
      time.longest_before = NodeId(node);
    }
    last = std::max(last, now);
  }
  return times;
}

std::string FormatNanoseconds(Nanoseconds ns) {
  if (ns < 1000) return std::to_string(ns) + " ns";
  constexpr std::array kUnits = {"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1000;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  char text[32];
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, kUnits[unit]);
  return text;
}

std::vector<GraphId> FindRan(const Trace& trace) {
  struct Run {
    GraphId graph;
    Seq since;
  };
  std::vector<Run> runs;  // by exec
  for (const Exec& exec : trace.execs) runs.push_back({exec.graph, exec.created});
  std::vector<GraphId> ran;
  auto update = trace.exec_updates.begin();
  for (const Launch& launch : trace.launches) {
    for (; update != trace.exec_updates.end() && update->seq < launch.seq; ++update) {
      if (update->result != 0 || update->exec.index() >= runs.size()) continue;
      runs[update->exec.index()] = {update->graph, update->seq};
    }
    const bool known = launch.exec.index() < runs.size();
    const auto [graph, since] = known ? runs[launch.exec.index()] : Run();
    ran.push_back(known && IsShown(trace, graph, since) ? graph : GraphId());
  }
  return ran;
}

std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace,
                                                   const std::vector<GraphId>& ran) {
  std::vector<std::vector<uint32_t>> by_graph(trace.graphs.size());
  for (uint32_t i = 0; i < ran.size(); ++i) {
    if (ran[i].valid()) by_graph[ran[i].index()].push_back(i);
  }
  return by_graph;
}

std::vector<bool> CapturedWith(const Trace& trace, CaptureStatus status) {
  std::vector<bool> captured(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != status || !capture.graph.valid()) continue;
    captured[capture.graph.index()] = true;
  }
  return captured;
}

std::vector<bool> FindNeverRun(const Trace& trace) {
  std::vector<bool> never(trace.graphs.size());
  if (!KnowsWhatWasFreed(trace)) return never;
  for (size_t i = 0; i < never.size(); ++i) {
    if (trace.graphs[i].destroyed != kNever) never[i] = true;
    if (trace.graphs[i].original.valid()) never[trace.graphs[i].original.index()] = true;
  }
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid()) never[exec.graph.index()] = false;
  }
  return never;
}

// The last launches of `first` on each stream are enough: those before them ended earlier.
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second) {
  std::optional<LaunchPair> by_threads;
  std::vector<uint32_t> last;
  auto next = first.begin();
  for (const uint32_t later : second) {
    for (; next != first.end() && *next < later; ++next) {
      const auto own = std::ranges::find_if(last, [&](uint32_t launch) {
        return trace.launches[launch].stream == trace.launches[*next].stream;
      });
      if (own == last.end()) {
        last.push_back(*next);
      } else {
        *own = *next;
      }
    }
    for (const uint32_t earlier : last) {
      if (order.Before(earlier, later)) continue;
      if (!order.BeforeByThreads(earlier, later)) return LaunchPair{earlier, later};
      if (!by_threads) by_threads = LaunchPair{earlier, later, true};
    }
  }
  return by_threads;
}

void DoubtThreads(Finding* finding) {
  finding->severity = Severity::kNote;
  finding->message +=
      "; another thread waited for the first one, which orders them only if the "
      "program orders the threads";
}

std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  const auto& launches = facts.launches();
  const NodeChanges changes(trace);
  std::vector<std::pair<GraphId, const GraphInput*>> inputs;
  std::vector<FreedBlock> freed;
  for (size_t graph = 0; graph < launches.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    for (const GraphInput& input : facts.inputs()[graph]) {
      if (trace[input.block].free_requested >= last) continue;
      inputs.emplace_back(graph, &input);
      freed.push_back({input.block, last, WrittenBefore(facts, input.block, last)});
    }
  }
  const std::vector<FreedFate> fates = FindFates(facts, freed);
  TouchesByGraph touches(facts);
  std::vector<std::vector<StaleInput>> stale(trace.graphs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [graph, input] = inputs[i];
    const Seq at = freed[i].at;
    const bool in_pool = PoolStillThere(trace, trace[input->block], at);
    if (fates[i].remade || (!fates[i].handed_out && in_pool)) continue;
    // Nodes that touch it may have been given other parameters, or switched off.
    const auto as_made = [&](NodeId node) { return !changes.Changed(node, at); };
    if (!changes.empty() && std::ranges::none_of(touches.Of(input->block, graph), as_made))
      continue;
    stale[graph.index()].push_back({*input, fates[i].replaced_by, in_pool && !fates[i].occupied});
  }
  return stale;
}

std::string LaunchText(const Trace& trace, uint32_t launch, GraphId graph) {
  return "launch " + std::to_string(launch) + " of " + NameOf(trace, graph) + " on " +
         NameOf(trace, trace.launches[launch].stream);
}

std::vector<FreedFate> FindFates(const MemoryFacts& facts, std::span<const FreedBlock> freed,
                                 uint64_t* looks) {
  return FateFinder(facts, freed).Find(looks);
}

}  // namespace graphkit
