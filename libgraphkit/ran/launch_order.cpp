#include "libgraphkit/ran/launch_order.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "libgraphkit/group_by.h"
#include "libgraphkit/model/nesting.h"

namespace graphkit {

// A node that waits for an event, or records it. It counts for its whole graph: what else the graph
// does may be unordered with it, and is taken as ordered.
struct EventNode {
  EventId event;
  bool records = false;
  bool sure = true;  // in each launch: a record takes the place of the event's earlier one
};

namespace {

// True if work on the stream after the first launch was counted, and isn't recorded.
bool HasUnrecorded(const Trace& trace, StreamId stream) {
  const Seq first = trace.launches.empty() ? kNever : trace.launches[0].seq;
  uint64_t counted = 0;
  for (const EagerCount& count : trace.eager_counts) {
    if (count.seq > first && count.stream == stream)
      counted += count.kernels + count.copies + count.others;
  }
  return counted > static_cast<uint64_t>(std::ranges::count_if(trace.works, [&](const auto& work) {
           return work.seq > first && work.stream == stream;
         }));
}

// cudaFree and its like return when all that the device was given has ended.
std::vector<Seq> FreesThatWait(const Trace& trace) {
  std::vector<Seq> frees;
  for (const Block block : trace.blocks) {
    const PoolKind kind = KindOf(trace, block.pool);
    const bool waits = kind == PoolKind::kDevice || kind == PoolKind::kManaged ||
                       (kind == PoolKind::kHost && !IsRegistered(trace, block));
    if (waits && block.freed() && !block.free_stream.valid() && !block.free_node.valid())
      frees.push_back(block.free_requested);
  }
  std::ranges::sort(frees);
  return frees;
}

// By root graph.
std::unordered_map<GraphId, std::vector<EventNode>> FindEventNodes(const Ran& trace) {
  const auto is_one = [](const Node& node) {
    return node.kind == NodeKind::kEventWait || node.kind == NodeKind::kEventRecord;
  };
  std::unordered_map<GraphId, std::vector<EventNode>> by_root;
  if (std::ranges::none_of(trace.nodes.shared(), is_one)) return by_root;
  const std::vector<GraphId> roots = FindRoots(trace);
  const auto add = [&](const Node& node, EventId event, bool sure) {
    if (event.index() >= trace.events.size()) return;
    by_root[roots[node.graph.index()]].push_back(
        {event, node.kind == NodeKind::kEventRecord, sure});
  };
  for (const auto& [i, node] : Enumerate(trace.nodes)) {
    if (!is_one(node)) continue;
    const ChangedNode* changed = FindChanged(trace, NodeId(i));
    add(node, node.event, node.destroyed == kNever && changed == nullptr);
    if (changed != nullptr) add(node, changed->event, false);
  }
  for (const NodeChange& change : trace.node_changes) {
    if (is_one(trace[change.node])) add(trace[change.node], change.event, false);
  }
  return by_root;
}

// Of the graph that a launch ran.
std::span<const EventNode> NodesOf(
    const Ran& trace, const std::unordered_map<GraphId, std::vector<EventNode>>& event_nodes,
    const Launch& launch) {
  const auto of = event_nodes.find(trace.GraphBefore(launch.exec, launch.seq).graph);
  return of == event_nodes.end() ? std::span<const EventNode>() : of->second;
}

}  // namespace

std::vector<Submission> AllSubmissions(const Trace& trace) {
  std::vector<Submission> all;
  uint32_t work = 0;
  const auto add_works = [&](Seq before) {
    for (; work < trace.works.size() && trace.works[work].seq < before; ++work)
      all.push_back({work, true});
  };
  for (uint32_t launch = 0; launch < trace.launches.size(); ++launch) {
    add_works(trace.launches[launch].seq);
    all.push_back({launch});
  }
  add_works(kNever);
  return all;
}

LaunchOrder::LaunchOrder(const Ran& trace) : LaunchOrder(trace, false) {
  const auto calls_host = [](const EagerWork& work) { return work.kind == NodeKind::kHost; };
  if (trace.threads.size() > 1 || std::ranges::any_of(trace.works, calls_host))
    by_threads_.reset(new LaunchOrder(trace, true));
}

LaunchOrder::LaunchOrder(const Ran& trace, bool by_threads)
    : trace_(trace),
      streams_(trace.streams.size()),
      events_(trace.events.size()),
      hosts_(by_threads ? 1 : std::max<size_t>(trace.threads.size(), 1)) {
  FindLegacy();
  const std::vector<Seq> frees = FreesThatWait(trace);
  size_t op = 0, free = 0;
  const auto apply_before = [&](Seq seq) {
    const auto seq_of_op = [&] {
      return op < trace.stream_ops.size() ? trace.stream_ops[op].seq : kNever;
    };
    const auto seq_of_free = [&] { return free < frees.size() ? frees[free] : kNever; };
    while (std::min(seq_of_op(), seq_of_free()) < seq) {
      if (seq_of_op() < seq_of_free()) {
        Apply(trace.stream_ops[op++]);
      } else {
        ++free, WaitForDevice(), freed_ = device_;
      }
    }
  };
  const auto event_nodes = FindEventNodes(trace);
  std::vector<Place> execs(
      trace.execs.size());  // the last launch of each, which its next waits for
  for (const Submission at : AllSubmissions(trace)) {
    if (at.work) {
      const EagerWork& work = trace.works[at.index];
      apply_before(work.seq);
      works_.push_back(PlaceOn(work.stream, work.thread));
      // Its function may let any thread go on.
      if (by_threads && work.kind == NodeKind::kHost && work.stream.index() < streams_.size())
        Absorb(&hosts_[0], EndOf(work.stream.value));
      continue;
    }
    const Launch& launch = trace.launches[at.index];
    apply_before(launch.seq);
    const bool known =
        launch.stream.index() < streams_.size() && launch.exec.index() < execs.size();
    std::span<const EventNode> nodes;
    if (known && !event_nodes.empty()) nodes = NodesOf(trace, event_nodes, launch);
    AddLaunch(launch, nodes, known ? &execs[launch.exec.index()] : nullptr);
  }
}

void LaunchOrder::FindLegacy() {
  for (const auto& [i, stream] : Enumerate<uint32_t>(trace_.streams)) {
    if (stream.kind == StreamKind::kLegacyDefault)
      legacy_.push_back({i, {}, HasUnrecorded(trace_, StreamId(i))});
  }
}

// `last`: the exec's last launch; null: the exec or the stream isn't known, and there are no nodes.
void LaunchOrder::AddLaunch(const Launch& launch, std::span<const EventNode> nodes, Place* last) {
  if (last != nullptr && last->stream < streams_.size() && last->stream != launch.stream.value) {
    rows_.Begin();
    const Row end = rows_.Raise(last->row, last->stream, last->seq + 1);
    Absorb(&streams_[launch.stream.index()].row, end);
  }
  for (const EventNode& node : nodes) {
    if (!node.records) Absorb(&streams_[launch.stream.index()].row, events_[node.event.index()]);
  }
  launches_.push_back(PlaceOn(launch.stream, launch.thread));
  if (last != nullptr) *last = launches_.back();
  for (const EventNode& node : nodes) {
    if (!node.records) continue;
    if (node.sure) events_[node.event.index()] = ClockRows::kEmpty;
    Absorb(&events_[node.event.index()], EndOf(launch.stream.value));
  }
}

// The first thread isn't named by most records.
LaunchOrder::Row& LaunchOrder::HostOf(ThreadId thread) {
  return hosts_[thread.index() < hosts_.size() ? thread.index() : 0];
}

void LaunchOrder::Absorb(Row* into, Row from) {
  rows_.Begin();
  *into = rows_.Join(*into, from);
}

// What has ended once all that was submitted to a stream has.
LaunchOrder::Row LaunchOrder::EndOf(uint32_t stream) {
  rows_.Begin();
  Submitted& so_far = streams_[stream];
  return so_far.row = rows_.Raise(so_far.row, stream, so_far.count);
}

// The legacy stream comes after all blocking streams, and a blocking stream after the legacy
// stream.
void LaunchOrder::MeetLegacy(uint32_t stream) {
  const Stream& own = trace_.streams[stream];
  if (own.non_blocking) return;
  for (Legacy& legacy : legacy_) {
    if (trace_.streams[legacy.stream].device != own.device) continue;
    if (legacy.stream == stream || legacy.counted) {
      for (const uint32_t other : std::exchange(legacy.changed, {}))
        Absorb(&streams_[legacy.stream].row, EndOf(other));
    }
    if (legacy.stream != stream) {
      Absorb(&streams_[stream].row, EndOf(legacy.stream));
      legacy.changed.push_back(stream);
    }
  }
}

// Work submitted to a stream comes after all that the thread has waited for, too.
void LaunchOrder::Submit(uint32_t stream, ThreadId thread) {
  Absorb(&streams_[stream].row, HostOf(thread));
  Absorb(&streams_[stream].row, freed_);
  MeetLegacy(stream);
  changed_.push_back(stream);
}

void LaunchOrder::WaitForDevice() {
  for (const uint32_t stream : std::exchange(changed_, {})) Absorb(&device_, EndOf(stream));
}

void LaunchOrder::Apply(const StreamOp& op) {
  if (op.capturing) return;
  const bool has_stream = op.stream.index() < streams_.size();
  const bool has_event = op.event.index() < events_.size();
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (!has_stream || !has_event) return;
      Submit(op.stream.value, op.thread);
      events_[op.event.index()] = EndOf(op.stream.value);
      return;
    case StreamOpKind::kEventWait:
      if (!has_stream || !has_event) return;
      // Which thread made it isn't recorded: of several threads none is known to have waited.
      if (hosts_.size() == 1) Submit(op.stream.value, op.thread);
      Absorb(&streams_[op.stream.index()].row, events_[op.event.index()]);
      MeetLegacy(op.stream.value);
      return;
    case StreamOpKind::kStreamSync:
      if (!has_stream) return;
      MeetLegacy(op.stream.value);
      Absorb(&HostOf(op.thread), EndOf(op.stream.value));
      return;
    case StreamOpKind::kEventSync:
      if (has_event) Absorb(&HostOf(op.thread), events_[op.event.index()]);
      return;
    case StreamOpKind::kDeviceSync:
      WaitForDevice();
      Absorb(&HostOf(op.thread), device_);
      return;
    default:
      return;
  }
}

// Of what is submitted to a stream here.
LaunchOrder::Place LaunchOrder::PlaceOn(StreamId id, ThreadId thread) {
  if (id.index() >= streams_.size()) return {};
  Submit(id.value, thread);
  Submitted& so_far = streams_[id.index()];
  return {id.value, so_far.count++, so_far.row};
}

bool LaunchOrder::Ended(const Place& from, const Place& to) const {
  if (from.stream >= streams_.size() || to.stream >= streams_.size()) return true;
  if (from.stream == to.stream) return from.seq < to.seq;
  return rows_.Count(to.row, from.stream) > from.seq;
}

bool OneAfterTheOther(const Trace& trace, const LaunchOrder& order, bool with_work) {
  std::optional<Submission> last;
  for (const Submission at : AllSubmissions(trace)) {
    const StreamId stream =
        at.work ? trace.works[at.index].stream : trace.launches[at.index].stream;
    if ((at.work && !with_work) || !stream.valid()) continue;
    if (last && !order.Before(*last, at)) return false;
    last = at;
  }
  return true;
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

}  // namespace graphkit
