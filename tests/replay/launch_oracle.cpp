#include "tests/replay/launch_oracle.h"

#include <algorithm>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {

LaunchOracle::LaunchOracle(const OracleProgram& program, size_t cells, Place place)
    : program_(program),
      trace_(program.trace),
      order_(program.trace),
      likely_order_(program.trace, EdgeRule::kCompletion, Ternary::kYes),
      roots_(FindRoots(program.trace)),
      backs_(BacksSegment(program.trace)),
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
}

void LaunchOracle::Run(const std::vector<bool>& member, uint64_t seed,
                       std::optional<OracleWindow> window) {
  random_ = Random(seed);
  window_ = window;
  poisoned_.assign(poisoned_.size(), false);
  size_t work = 0;
  bool begun = false;
  const auto work_before = [&](Seq seq) {
    for (; work < trace_.works.size() && trace_.works[work].seq < seq; ++work) {
      if (!begun) continue;
      for (const Access& access : trace_.accesses.Of(trace_.works[work].accesses)) {
        const Block& block = trace_[access.block];
        const bool own = !block.graph.valid() && !backs_[access.block.index()];
        if (own && trace_.works[work].seq < block.free_completed) continue;  // the caller's
        ForEachCell(access, [&](size_t cell) {
          if (!window_ || poisoned_[cell]) unsafe_[cell] = true;
        });
      }
    }
  };
  for (size_t i = 0; i < program_.launches.size(); ++i) {
    work_before(trace_.launches[i].seq);
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
    if (!block.graph.valid() || backs_[i]) continue;
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
  if (!MayRepeat(trace_[node])) {
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
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const NodeId other(i);
    if (roots_[trace_[other].graph.index()] != roots_[trace_[node].graph.index()]) continue;
    for (const Access& access : trace_.accesses.Of(trace_[other].accesses)) {
      const bool ordered = order_.Before(other, node) || order_.Before(node, other);
      if (access.block == block && !ordered) return false;
    }
  }
  return true;
}

bool LaunchOracle::First(NodeId node, BlockId block) const {
  const GraphId root = roots_[trace_[node].graph.index()];
  if (!trace_[block].graph.valid() || roots_[trace_[block].graph.index()] != root) return false;
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    if (roots_[trace_.nodes[i].graph.index()] != root || !likely_order_.Before(NodeId(i), node))
      continue;
    for (const Access& access : trace_.accesses.Of(trace_.nodes[i].accesses)) {
      if (access.block == block) return false;
    }
  }
  return true;
}

void LaunchOracle::Act(const OracleLaunch& launch, NodeId node, bool member) {
  const auto other = launch.nodes.find(node);
  const NodeWorkload& work = other == launch.nodes.end() ? program_.made.at(node) : other->second;
  if (work.off) return;
  if (work.accesses.empty()) ActOpaquely(node);
  for (const bool writing : {false, true}) {  // it reads all before it writes any
    for (const Access& access : work.accesses) {
      const bool known = access.length != kLengthUnknown;
      const bool open =
          access.mode == AccessMode::kUnknown || (access.mode == AccessMode::kWrite && !known);
      const bool first = open && First(node, access.block);
      const bool reads = access.mode != AccessMode::kWrite && !first;
      const bool writes = open ? first : access.mode != AccessMode::kRead && known;
      ForEachCell(access, [&](size_t cell) {
        const bool meets = writing ? writes && lent_[cell] : reads && poisoned_[cell];
        if (meets || (!member && !window_)) unsafe_[cell] = true;
        if (writing && writes) poisoned_[cell] = false;
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
    const bool own =
        block.graph.valid() && roots_[block.graph.index()] == roots_[node.graph.index()];
    const bool lives = block.allocated < node.seq && node.seq < block.free_requested;
    if (block.stream != stream) continue;
    if (!own || !lives || First(id, BlockId(i)) || !OrderedWithTouches(id, BlockId(i))) continue;
    place_(BlockId(i), {0, block.size}, [&](size_t cell) {
      if (poisoned_[cell]) unsafe_[cell] = true;
    });
  }
}

// Where no block lay, an unknown extent ends with the longest block that ever did, or the segment.
void LaunchOracle::ForEachCell(const Access& access,
                               const std::function<void(size_t)>& visit) const {
  const Block& block = trace_[access.block];
  Bytes end = access.length == kLengthUnknown ? block.size
                                              : std::min(block.size, access.offset + access.length);
  if (access.length == kLengthUnknown && backs_[access.block.index()]) {
    const Address begin = block.address + access.offset;
    Bytes longest = 0;
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const Block& there = trace_.blocks[i];
      if (backs_[i] || !there.graph.valid()) continue;
      if (there.address <= begin && begin < there.address + there.size) {
        longest = std::max(longest, there.address + there.size - block.address);
      }
    }
    if (longest != 0) end = longest;
  }
  const AccessRows& rows = access.rows;
  for (Bytes at = access.offset; at < end; at += kCell) {
    const Bytes inside = at - access.offset;
    if (rows.width != 0 && inside % rows.pitch >= rows.width) continue;
    place_(access.block, {at, at + kCell}, visit);
  }
}

}  // namespace graphkit
