#include "tests/replay/launch_oracle.h"

#include <algorithm>

namespace graphkit {

LaunchOracle::LaunchOracle(const OracleProgram& program, size_t cells, Place place)
    : program_(program),
      trace_(program.trace),
      order_(program.trace),
      likely_order_(program.trace, EdgeRule::kCompletion, Ternary::kYes),
      place_(std::move(place)),
      poisoned_(cells),
      lent_(cells),
      unsafe_(cells) {
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    nodes_[trace_.nodes[i].graph].emplace_back(i);
  }
  for (size_t i = 0; i < trace_.graphs.size(); ++i) {
    if (trace_.graphs[i].parent) held_[trace_.graphs[i].parent].emplace_back(i);
  }
  FindTouched();
}

GraphId LaunchOracle::RootOf(GraphId graph) const {
  while (trace_[graph].parent) graph = trace_[trace_[graph].parent].graph;
  return graph;
}

void LaunchOracle::FindTouched() {
  const auto add = [&](const NodeWorkload& work, const auto& visit) {
    for (const Access& access : work.accesses) {
      ForEachPart(access, work.seq, [&](BlockId block, Interval<Bytes>) { visit(access, block); });
    }
  };
  for (const OracleLaunch& launch : program_.launches) {
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const NodeWorkload& work = WorkOf(launch, NodeId(i));
      if (work.off || RootOf(trace_.nodes[i].graph) != launch.root) continue;
      add(work, [&](const Access&, BlockId block) { touched_[NodeId(i)].insert(block); });
    }
  }
  for (const NodeWorkload& work : program_.works) {
    add(work, [&](const Access& access, BlockId block) {
      if (access.mode != AccessMode::kRead) filled_.insert(block);
    });
  }
}

const NodeWorkload& LaunchOracle::WorkOf(const OracleLaunch& launch, NodeId node) const {
  const auto other = launch.nodes.find(node);
  return other == launch.nodes.end() ? program_.made.at(node) : other->second;
}

// What was handed out outside of captures is the program's as long as it has it.
void LaunchOracle::ActOutside(const NodeWorkload& work) {
  for (const Access& access : work.accesses) {
    ForEachPart(access, work.seq, [&](BlockId id, Interval<Bytes> bytes) {
      const Block& block = trace_[id];
      const bool own = !block.graph.valid() && id != program_.segment;
      if (own && work.seq < block.free_completed) return;
      place_(id, bytes, [&](size_t cell) {
        if (!window_ || poisoned_[cell]) unsafe_[cell] = true;
      });
    });
  }
}

void LaunchOracle::Run(const std::vector<bool>& member, uint64_t seed,
                       std::optional<OracleWindow> window) {
  random_ = Random(seed);
  window_ = window;
  poisoned_.assign(poisoned_.size(), false);
  size_t work = 0;
  bool begun = false;
  const auto work_before = [&](Seq seq) {
    for (; work < program_.works.size() && program_.works[work].seq < seq; ++work) {
      if (begun) ActOutside(program_.works[work]);
    }
  };
  for (size_t i = 0; i < program_.launches.size(); ++i) {
    work_before(program_.launches[i].seq);
    Launch(program_.launches[i], member[i]);
    begun = begun || member[i];
    LookAtOutputs();
    if (begun && !window_) poisoned_.assign(poisoned_.size(), true);
  }
  work_before(kNever);
}

// Anybody may read outputs after a launch.
void LaunchOracle::LookAtOutputs() {
  for (size_t i = 0; i < trace_.blocks.size(); ++i) {
    const Block& block = trace_.blocks[i];
    if (!block.graph.valid()) continue;
    const auto captured = std::ranges::find_if(
        trace_.captures, [&](const Capture& capture) { return capture.graph == block.graph; });
    if (captured == trace_.captures.end() || block.free_requested < captured->end) continue;
    place_(BlockId(i), {0, block.size}, [&](size_t cell) {
      if (!window_ || poisoned_[cell]) unsafe_[cell] = true;
    });
  }
}

size_t LaunchOracle::Add(Kind kind, NodeId node) {
  events_.push_back({kind, node});
  return events_.size() - 1;
}

void LaunchOracle::Connect(size_t from, size_t to) {
  events_[from].next.push_back(to);
  ++events_[to].needs;
}

void LaunchOracle::AddGraph(GraphId graph, size_t start, size_t end) {
  std::map<NodeId, std::pair<size_t, size_t>> ends;  // each node's start and end
  for (const NodeId node : nodes_[graph]) {
    const size_t starts = Add(Kind::kStart, node), acts = Add(Kind::kAct, node),
                 stops = Add(Kind::kEnd, node);
    ends[node] = {starts, stops};
    Connect(start, starts);
    Connect(starts, acts);
    Connect(acts, stops);
    Connect(stops, end);
    AddHeld(node, starts, stops);
  }
  for (const Edge& edge : trace_.edges) {
    const auto from = ends.find(edge.from), to = ends.find(edge.to);
    if (from == ends.end() || to == ends.end()) continue;
    if (edge.full()) {
      Connect(from->second.second, to->second.first);
      continue;
    }
    Connect(from->second.first, to->second.first);
    const KernelId kernel = trace_[edge.to].kernel;
    if (kernel.valid() && trace_[kernel].waits == Ternary::kYes) {
      Connect(from->second.second, to->second.second);
    }
  }
  if (window_ && ends.contains(window_->at)) AddWindow(ends);
}

void LaunchOracle::AddHeld(NodeId node, size_t start, size_t end) {
  const auto held = held_.find(node);
  if (held == held_.end()) return;
  if (trace_[node].kind != NodeKind::kConditional) return AddGraph(held->second[0], start, end);
  const auto bodies = static_cast<uint64_t>(held->second.size());
  if (trace_[node].conditional != ConditionalType::kWhile) {
    const uint64_t taken = random_.Below(bodies + 1);  // none: it is false, or too large
    const bool both = trace_[node].conditional == ConditionalType::kIf && bodies == 2;
    if (taken < bodies) return AddGraph(held->second[taken], start, end);
    if (both) AddGraph(held->second[random_.Below(2)], start, end);
    return;
  }
  for (uint64_t runs = random_.Below(3); runs > 0; --runs) {
    const size_t stop = Add(Kind::kEnd, {});
    AddGraph(held->second[random_.Below(bodies)], start, stop);
    Connect(stop, end);
    start = stop;
  }
}

void LaunchOracle::AddWindow(const std::map<NodeId, std::pair<size_t, size_t>>& events) {
  const size_t lends = Add(Kind::kLend, {}), returns = Add(Kind::kReturn, {});
  Connect(events.at(window_->at).first, lends);
  Connect(lends, returns);
  Connect(returns,
          window_->until ? events.at(window_->until).first : events.at(window_->last).second);
}

// Random; all that some event waits for comes first, so that it comes as early as it may.
std::vector<size_t> LaunchOracle::SomeOrder() {
  std::vector<std::vector<size_t>> before(events_.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    for (const size_t next : events_[i].next) before[next].push_back(i);
  }
  std::vector<bool> early(events_.size());
  std::vector<size_t> open = {random_.Below(events_.size())};
  while (!open.empty()) {
    const size_t event = open.back();
    open.pop_back();
    if (early[event]) continue;
    early[event] = true;
    open.insert(open.end(), before[event].begin(), before[event].end());
  }
  std::vector<uint32_t> needs;
  std::vector<size_t> ready, order;
  for (const Event& event : events_) needs.push_back(event.needs);
  for (size_t i = 0; i < events_.size(); ++i) {
    if (needs[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    size_t at = random_.Below(ready.size());
    for (size_t i = 0; i < ready.size() && !early[ready[at]]; ++i) {
      if (early[ready[i]]) at = i;
    }
    const size_t event = ready[at];
    ready[at] = ready.back();
    ready.pop_back();
    order.push_back(event);
    for (const size_t next : events_[event].next) {
      if (--needs[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

void LaunchOracle::Launch(const OracleLaunch& launch, bool member) {
  events_.clear();
  const size_t start = Add(Kind::kStart, {}), end = Add(Kind::kEnd, {});
  AddGraph(launch.root, start, end);
  lent_.assign(lent_.size(), false);
  for (const size_t index : SomeOrder()) {
    const Event& event = events_[index];
    if (event.kind == Kind::kAct) Act(launch, event.node, member);
    if (event.kind == Kind::kLend || event.kind == Kind::kReturn) {
      lent_.assign(lent_.size(), event.kind == Kind::kLend);
      poisoned_.assign(poisoned_.size(), true);
    }
  }
}

bool LaunchOracle::OrderedWithTouches(NodeId node, BlockId block) const {
  const GraphId root = RootOf(trace_[node].graph);
  return std::ranges::all_of(touched_, [&](const auto& of) {
    if (RootOf(trace_[of.first].graph) != root || !of.second.contains(block)) return true;
    return order_.Before(of.first, node) || order_.Before(node, of.first);
  });
}

bool LaunchOracle::First(NodeId node, BlockId block) const {
  const GraphId root = RootOf(trace_[node].graph);
  if (!trace_[block].graph.valid() || RootOf(trace_[block].graph) != root) return false;
  if (filled_.contains(block)) return false;
  return std::ranges::none_of(touched_, [&](const auto& of) {
    return of.second.contains(block) && RootOf(trace_[of.first].graph) == root &&
           likely_order_.Before(of.first, node);
  });
}

void LaunchOracle::Act(const OracleLaunch& launch, NodeId node, bool member) {
  const NodeWorkload& work = WorkOf(launch, node);
  if (work.off) return;
  if (work.accesses.empty()) ActOpaquely(node);
  for (const bool writing : {false, true}) {  // it reads all before it writes any
    for (const Access& access : work.accesses) {
      const bool known = access.length != kLengthUnknown;
      const bool open =
          access.mode == AccessMode::kUnknown || (access.mode == AccessMode::kWrite && !known);
      ForEachPart(access, work.seq, [&](BlockId block, Interval<Bytes> bytes) {
        const bool first = open && First(node, block);
        const bool reads = access.mode != AccessMode::kWrite && !first;
        const bool writes = open ? first : access.mode != AccessMode::kRead && known;
        place_(block, bytes, [&](size_t cell) {
          const bool meets = writing ? writes && lent_[cell] : reads && poisoned_[cell];
          if (meets || (!member && !window_)) unsafe_[cell] = true;
          if (writing && writes) poisoned_[cell] = false;
        });
      });
    }
  }
}

// A kernel without layout may read what lives, was allocated on its stream (no other one is
// recorded), and what it is ordered with all touches of.
void LaunchOracle::ActOpaquely(NodeId id) {
  const Node& node = trace_[id];
  if (node.kind != NodeKind::kKernel || node.accesses_complete) return;
  if (node.kernel.valid() && trace_[node.kernel].has_layout) return;
  StreamId stream = node.stream;
  for (NodeId at = trace_[node.graph].parent; at.valid(); at = trace_[trace_[at].graph].parent) {
    stream = trace_[at].stream;
  }
  for (size_t i = 0; i < trace_.blocks.size(); ++i) {
    const Block& block = trace_.blocks[i];
    const bool own = block.graph.valid() && RootOf(block.graph) == RootOf(node.graph);
    const bool lives = block.allocated < node.seq && node.seq < block.free_requested;
    if (block.stream != stream) continue;
    if (!own || !lives || First(id, BlockId(i)) || !OrderedWithTouches(id, BlockId(i))) continue;
    place_(BlockId(i), {0, block.size}, [&](size_t cell) {
      if (poisoned_[cell]) unsafe_[cell] = true;
    });
  }
}

// An unknown extent ends with the block. Where none lay, with the longest that ever did, or with
// the segment.
Interval<Address> LaunchOracle::BytesOf(const Access& access) const {
  const Block& block = trace_[access.block];
  const Block& segment = trace_[program_.segment];
  const Address begin = block.address + access.offset, end = segment.address + segment.size;
  if (access.length != kLengthUnknown) return {begin, std::min(end, begin + access.length)};
  if (access.block != program_.segment) return {begin, block.address + block.size};
  Address longest = 0;
  for (size_t i = 0; i < trace_.blocks.size(); ++i) {
    const Block& there = trace_.blocks[i];
    const bool holds = there.address <= begin && begin < there.address + there.size;
    if (there.graph.valid() && holds) longest = std::max(longest, there.address + there.size);
  }
  return {begin, longest != 0 ? longest : end};
}

// The block that the access names has its bytes; of others the one that lay there then.
BlockId LaunchOracle::BlockAt(const Access& access, Seq seq, Address at) const {
  const auto holds = [&](BlockId id) {
    return trace_[id].address <= at && at < trace_[id].address + trace_[id].size;
  };
  if (access.block != program_.segment && holds(access.block)) return access.block;
  for (size_t i = 0; i < trace_.blocks.size(); ++i) {
    const Block& block = trace_.blocks[i];
    const bool lives = block.allocated < seq && seq < block.free_completed;
    if (BlockId(i) != program_.segment && lives && holds(BlockId(i))) return BlockId(i);
  }
  return program_.segment;
}

// To the block at its first byte, where it isn't known how far it goes.
void LaunchOracle::ForEachPart(const Access& access, Seq seq,
                               const std::function<void(BlockId, Interval<Bytes>)>& visit) const {
  Interval<Address> bytes = BytesOf(access);
  const BlockId first = BlockAt(access, seq, bytes.begin);
  const bool known = access.length != kLengthUnknown;
  if (!known && first != program_.segment) bytes.end = trace_[first].address + trace_[first].size;
  for (Address at = bytes.begin; at < bytes.end; at += kCell) {
    const BlockId block = known ? BlockAt(access, seq, at) : first;
    const Address begin = trace_[block].address;
    if (at < begin + trace_[block].size) visit(block, {at - begin, at - begin + kCell});
  }
}

}  // namespace graphkit
