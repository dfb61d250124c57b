#include "libgraphkit/io/merge/joins.h"

#include <set>

#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/access_map.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

std::string Named(const char* what, uint64_t id) { return what + std::to_string(id); }

std::string ToolIdText(uint64_t id) {
  return Named("graph ", id >> 32) + Named(" node ", id & 0xffffffffu);
}

// A process that was killed left no last snapshot: what captures allocated after the one that is
// there isn't known.
void AddLaterCaptures(std::span<const BlockId> blocks, const Trace& trace,
                      NotJoinedList* not_joined) {
  if (!trace.completeness.truncated || blocks.empty()) return;
  Seq last = 0;
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    for (const Seq seq : {block.allocated, block.free_requested, block.free_completed}) {
      if (seq != kNever) last = std::max(last, seq);
    }
  }
  for (const Capture& capture : trace.captures) {
    if (capture.begin <= last) continue;
    not_joined->Add("captures after the last snapshot of a process that was killed",
                    Named("graph ", capture.graph.value));
  }
}

// PyTorch 2.8 writes no pools into its history, so those of segments that are gone at its end are
// unknown. Memory that the driver gave while a graph was captured is of that graph's private pool.
bool InPrivatePool(const Block& block, const Trace& trace) {
  if (block.pool && trace[block.pool].kind == PoolKind::kPrivate) return true;
  const BlockId memory = block.segment ? trace[block.segment].block : BlockId();
  return memory && trace[memory].graph;
}

// Where segments lay, whenever. The memory of an expandable one is mapped page by page, and a
// snapshot has pages that were mapped at once as one.
class SegmentRanges {
 public:
  explicit SegmentRanges(const Trace& trace) : is_memory_(trace.blocks.size()) {
    for (const Segment& segment : trace.segments) {
      if (segment.block) is_memory_[segment.block.index()] = true;
      pools_.Add({segment.address, segment.address + segment.size}, segment.pool);
    }
    for (const auto& [address, block] : DriverBlocks(trace)) {
      if (pools_.Find(address)) is_memory_[block.index()] = true;
    }
  }

  bool IsMemory(BlockId block) const { return block && is_memory_[block.index()]; }
  // Whose segment lay there last.
  PoolId PoolAt(Address address) const {
    const PoolId* pool = pools_.Find(address);
    return pool ? *pool : PoolId();
  }

 private:
  std::vector<bool> is_memory_;
  IntervalMap<PoolId> pools_;
};

// Nodes of graphs that access the segments of a pool.
struct NodesOfPool {
  uint64_t nodes = 0;
  uint64_t joined = 0;  // those that access a block there
  Seq last = kNever;    // the last one counted
  bool last_joined = false;

  void Count(Seq node, bool has_block) {
    if (std::exchange(last, node) != node) {
      ++nodes;
      last_joined = false;
    }
    if (has_block && !std::exchange(last_joined, true)) ++joined;
  }
};

// Where most nodes find no block, the times of the sources don't fit, or the history isn't whole.
void NoteUnjoined(const std::map<PoolId, NodesOfPool>& pools, Trace* trace) {
  for (const auto& [pool, found] : pools) {
    if (2 * found.joined >= found.nodes) continue;
    const std::string_view name = pool ? (*trace)[(*trace)[pool].name] : std::string_view();
    trace->completeness.notes.push_back(
        "the memory history has no block where " + FormatCount(found.nodes - found.joined) +
        " of the " + Counted(found.nodes, "node") + " access the segments of " +
        (name.empty() ? "a pool" : std::string(name)) + ": the memory of their graphs isn't known");
  }
}

}  // namespace

void NotJoinedList::Add(const std::string& what, const std::string& example) {
  constexpr size_t kShown = 20;
  auto at = std::ranges::find(list_, what, &NotJoined::what);
  if (at == list_.end()) at = list_.insert(at, {what, 0, {}});
  ++at->count;
  if (at->examples.size() < kShown) at->examples.push_back(example);
}

std::string BaseName(std::string_view kernel) {
  std::string name = DemangledName(kernel).value_or(std::string(kernel));
  const std::string_view anonymous = "(anonymous namespace)::";
  for (size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
    name.erase(at, anonymous.size());
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  return name.substr(0, name.find_first_of("<("));
}

size_t JoinTimes(std::span<const NodeTime> times, const std::map<uint64_t, NodeId>& by_tool_id,
                 Trace* trace, NotJoinedList* not_joined) {
  size_t joined = 0;
  std::map<NodeId, NodeTime> sums;  // a node may have run in several execs
  for (const NodeTime& time : times) {
    const std::string id =
        ToolIdText(time.tool_id) + (time.name.empty() ? "" : " (" + BaseName(time.name) + ")");
    const auto at = by_tool_id.find(time.tool_id);
    if (at == by_tool_id.end()) {
      not_joined->Add("nodes of the profile that no graph has", id);
      continue;
    }
    const Node node = (*trace)[at->second];
    const bool kernel = node.kernel.valid();
    const bool other =
        kernel == time.name.empty() ||
        (kernel && BaseName((*trace)[(*trace)[node.kernel].name]) != BaseName(time.name));
    if (other) {
      not_joined->Add("nodes of the profile that are other kernels in the graph", id);
      continue;
    }
    NodeTime& sum = sums[at->second];
    sum.launches += time.launches;
    sum.total_ns += time.total_ns;
    const uint64_t mean = sum.launches == 0 ? 0 : sum.total_ns / sum.launches;
    trace->nodes.Change(at->second.index(), [&](Node& joined_to) { joined_to.duration_ns = mean; });
    ++joined;
  }
  return joined;
}

size_t JoinOrigins(std::span<const NodeOrigin> origins, const MovedSource& moved,
                   const std::map<uint64_t, NodeId>& by_tool_id, Trace* trace,
                   NotJoinedList* not_joined) {
  size_t joined = 0;
  for (const NodeOrigin& origin : origins) {
    const auto at = by_tool_id.find(origin.tool_id);
    if (at == by_tool_id.end()) {
      not_joined->Add("nodes with a launch stack or an annotation that no graph has",
                      ToolIdText(origin.tool_id));
      continue;
    }
    const Seq seq = (*trace)[at->second].seq;
    trace->nodes.Change(at->second.index(), [&](Node& node) {
      if (!node.stack.valid()) node.stack = moved.ids[origin.stack];
    });
    if (!origin.label.empty())
      trace->node_labels.push_back({seq, trace->strings.Intern(origin.label)});
    ++joined;
  }
  std::ranges::stable_sort(trace->node_labels, {}, &NodeLabel::seq);
  return joined;
}

void AddTracedToolIds(const Trace& trace, std::map<uint64_t, NodeId>* by_tool_id) {
  const ExecToolIds execs(trace);
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    for (const ToolIdRun& run : execs.Of(ExecId(i))) {
      for (uint32_t j = 0; j < run.count; ++j) {
        by_tool_id->emplace(run.tool_id + j, NodeId(run.first.value + j));
      }
    }
  }
  const std::vector<uint64_t> own = OwnToolIds(trace);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != 0) by_tool_id->emplace(own[i], NodeId(i));
  }
}

// Blocks of private pools may lie outside of captures: warm-ups, MemPool. Where all do, the clocks
// have nothing in common.
size_t JoinCaptures(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined) {
  size_t joined = 0;
  std::vector<BlockId> outside;
  for (const BlockId id : blocks) {
    const Block block = (*trace)[id];
    if (!InPrivatePool(block, *trace)) continue;
    GraphId graph;
    size_t open = 0;
    for (const Capture& capture : trace->captures) {
      if (block.allocated < capture.begin || block.allocated >= capture.end) continue;
      if (open == 0 || capture.origin == block.stream) graph = capture.graph;
      ++open;
    }
    if (open == 0) {
      outside.push_back(id);
      continue;
    }
    trace->blocks.Change(id.index(), [&](Block& inside) { inside.graph = graph; });
    ++joined;
  }
  AddLaterCaptures(blocks, *trace, not_joined);
  if (joined > 0 || trace->captures.empty()) return joined;
  for (const BlockId id : outside) {
    not_joined->Add("blocks of private pools that were allocated outside of every capture",
                    Named("block ", id.value));
  }
  return joined;
}

void JoinWorkspaces(std::span<const BlockId> blocks, Trace* trace) {
  std::set<SegmentId> known;
  for (const BlockId id : blocks) {
    const Block block = (*trace)[id];
    const Segment& segment = (*trace)[block.segment];
    if (!known.insert(block.segment).second || !segment.block) continue;
    const StackId stack = (*trace)[segment.block].stack;
    if (!stack || block.address != segment.address) continue;
    const Slice frames = trace->stacks[stack.index()].frames;
    const std::string_view function = (*trace)[trace->stack_frames[frames.first].function];
    if (frames.count != 1 || !function.starts_with("at::cuda::get")) continue;
    trace->blocks.Change(id.index(), [&](Block& workspace) { workspace.stack = stack; });
  }
}

size_t JoinAccesses(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined) {
  const SegmentRanges segments(*trace);
  std::map<PoolId, NodesOfPool> reached;
  size_t joined = 0;
  MapAccesses(trace);
  const auto count = [&](Seq seq, Slice accesses, NodeId node) {
    for (const Access& access : trace->accesses.Of(accesses)) {
      const bool memory = segments.IsMemory(access.block);
      const bool inside = std::ranges::binary_search(blocks, access.block);
      if (!memory && !inside) continue;
      const Address address = (*trace)[access.block].address + access.offset;
      if (node) reached[segments.PoolAt(address)].Count(seq, inside);
      if (inside) {
        ++joined;
        continue;
      }
      not_joined->Add("addresses of nodes in a segment where no block lay",
                      node ? Named("node ", node.value) : "work outside of graphs");
    }
  };
  for (size_t i = 0; i < trace->nodes.size(); ++i)
    count(trace->nodes[i].seq, trace->nodes[i].accesses, NodeId(i));
  for (const NodeChange& change : trace->node_changes)
    count(change.seq, change.accesses, change.node);
  for (const EagerWork& work : trace->works) count(work.seq, work.accesses, {});
  NoteUnjoined(reached, trace);
  return joined;
}

}  // namespace graphkit
