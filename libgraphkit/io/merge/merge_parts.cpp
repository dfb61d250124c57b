#include "libgraphkit/io/merge/merge.h"

#include <cstdlib>
#include <set>

#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/node_versions.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

constexpr int64_t kOneSecond = 1'000'000'000;
constexpr int64_t kApart = kOneSecond;         // clocks of one machine differ by less
constexpr int64_t kJitter = kOneSecond / 100;  // delays of one process by less
constexpr size_t kEnough = 4;                  // delays, to judge them

constexpr const char* kApartHint =
    "merge joins files of one process; graphkit analyze takes traces of several";

bool IsDriver(const Trace& trace, const Block& block) {
  return !block.segment && block.pool && trace[block.pool].kind == PoolKind::kDevice;
}

int64_t MedianOf(std::vector<int64_t> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

// True when most are as long as the others.
bool Agree(const std::vector<int64_t>& differences) {
  const int64_t median = MedianOf(differences);
  const auto near = std::ranges::count_if(differences, [&](int64_t difference) {
    return difference > median - kJitter && difference < median + kJitter;
  });
  return 4 * near >= 3 * std::ssize(differences);
}

std::string SecondsText(int64_t ns) {
  return FormatCount(static_cast<uint64_t>(ns / kOneSecond)) + " s";
}

// Why they can't be of one process; empty: they may be.
std::string Contradiction(const ProcessEvidence& evidence, const std::string& trace) {
  const bool most = 2 * evidence.seen > evidence.segments;
  if (evidence.whole && evidence.saw_driver && evidence.segments > 0 && !most) {
    return FormatCount(evidence.seen) + " of its " + FormatCount(evidence.segments) +
           " segments are memory that the driver gave there";
  }
  if (evidence.trace_time && evidence.snapshot_time) {
    const auto &run = *evidence.trace_time, &history = *evidence.snapshot_time;
    if (history.end < run.begin - kApart) {
      return "its history ended " + SecondsText(run.begin - history.end) + " before " + trace +
             " began";
    }
    if (evidence.whole && history.begin > run.end + kApart) {
      return "its history began " + SecondsText(history.begin - run.end) + " after " + trace +
             " had ended";
    }
  }
  if (evidence.differences.size() >= kEnough && !Agree(evidence.differences)) {
    return "its segments have addresses of memory there, but were allocated at other times";
  }
  return {};
}

std::string Named(const char* what, uint32_t id) { return what + std::to_string(id); }

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

// Places of some blocks, as time goes on.
class LiveBlocks {
 public:
  LiveBlocks(std::span<const BlockId> blocks, const Trace& trace) : trace_(trace) {
    for (const BlockId id : blocks) {
      const Block& block = trace[id];
      if (!block.segment) continue;
      changes_.push_back({block.allocated, id, true});
      if (block.free_completed != kNever) changes_.push_back({block.free_completed, id, false});
    }
    std::ranges::sort(changes_, {}, &Change::seq);
  }

  void AdvanceTo(Seq seq) {
    for (; next_ < changes_.size() && changes_[next_].seq < seq; ++next_) {
      const auto& [at, id, begins] = changes_[next_];
      const Block& block = trace_[id];
      const Interval<Address> range{block.address, block.address + std::max<Bytes>(block.size, 1)};
      const BlockId* there = live_.Find(block.address);
      if (begins) live_.Add(range, id);
      if (!begins && there && *there == id) live_.Remove(range);
    }
  }
  const BlockId* Find(Address address) const { return live_.Find(address); }

 private:
  struct Change {
    Seq seq;
    BlockId block;
    bool begins;
  };
  const Trace& trace_;
  std::vector<Change> changes_;
  size_t next_ = 0;
  IntervalMap<BlockId> live_;
};

// Something that touches memory: a node, as made or as set, or work outside of graphs.
struct Toucher {
  Seq seq = 0;
  Slice accesses;
  NodeId node = {};
};

// In the order of the trace.
std::vector<Toucher> TouchersOf(const Trace& trace) {
  std::vector<Toucher> touchers;
  touchers.reserve(trace.nodes.size() + trace.node_changes.size() + trace.works.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    touchers.push_back({trace.nodes[i].seq, trace.nodes[i].accesses, NodeId(i)});
  }
  for (const NodeChange& change : trace.node_changes) {
    touchers.push_back({change.seq, change.accesses, change.node});
  }
  for (const EagerWork& work : trace.works) touchers.push_back({work.seq, work.accesses});
  std::ranges::stable_sort(touchers, {}, &Toucher::seq);
  return touchers;
}

// By block: the memory of a segment, or of a part of it: an expandable one is mapped page by page,
// and a snapshot has pages that were mapped at once as one.
std::vector<bool> MemoryOfSegments(const Trace& trace) {
  std::vector<bool> memory(trace.blocks.size());
  IntervalMap<SegmentId> segments;
  for (size_t i = 0; i < trace.segments.size(); ++i) {
    const Segment& segment = trace.segments[i];
    if (segment.block) memory[segment.block.index()] = true;
    const Interval<Address> range{segment.address, segment.address + segment.size};
    if (segment.size > 0 && !segments.Find(segment.address)) segments.Add(range, SegmentId(i));
  }
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const bool driver = block.pool && trace[block.pool].kind == PoolKind::kDevice;
    if (driver && !block.segment && segments.Find(block.address)) memory[i] = true;
  }
  return memory;
}

}  // namespace

void NotJoinedList::Add(const std::string& what, const std::string& example) {
  constexpr size_t kShown = 20;
  auto at = std::ranges::find(list_, what, &NotJoined::what);
  if (at == list_.end()) at = list_.insert(at, {what, 0, {}});
  ++at->count;
  if (at->examples.size() < kShown) at->examples.push_back(example);
}

// The same address may be given out again: the n-th of one is the n-th of the other, from the end,
// because a snapshot holds the end of a run.
std::map<BlockId, BlockId> SameDriverBlocks(const Trace& snapshot, const Trace& base,
                                            NotJoinedList* not_joined) {
  std::map<BlockId, BlockId> same;
  const BlocksByAddress mine = DriverBlocks(snapshot);
  const BlocksByAddress theirs = DriverBlocks(base);
  for (auto at = mine.begin(); at != mine.end();) {
    const auto end = mine.upper_bound(at->first);
    const auto [first, last] = theirs.equal_range(at->first);
    std::vector<BlockId> here;
    std::vector<BlockId> there;
    for (; at != end; ++at) here.push_back(at->second);
    for (auto other = first; other != last; ++other) there.push_back(other->second);
    while (!here.empty()) {
      const BlockId block = here.back();
      here.pop_back();
      const Bytes size = snapshot[block].size;
      if (!there.empty() && !RunOfBlocks(base, theirs, there.back(), size).empty()) {
        same[block] = there.back();
        there.pop_back();
      } else if (!base.blocks.empty()) {
        not_joined->Add("segments of the snapshot whose memory the trace didn't see asked for",
                        Named("block ", block.value));
      }
    }
  }
  return same;
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
    const std::string id = "graph " + std::to_string(time.tool_id >> 32) + " node " +
                           std::to_string(time.tool_id & 0xffffffffu) +
                           (time.name.empty() ? "" : " (" + BaseName(time.name) + ")");
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
                      "graph " + std::to_string(origin.tool_id >> 32) + " node " +
                          std::to_string(origin.tool_id & 0xffffffffu));
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
  const std::vector<bool> joinable = MemoryOfSegments(*trace);
  LiveBlocks live(blocks, *trace);
  size_t joined = 0;
  RestoreNodes(trace);  // as made, and as set: each by what lay there then
  for (const Toucher& by : TouchersOf(*trace)) {
    live.AdvanceTo(by.seq);
    for (uint32_t a = 0; a < by.accesses.count; ++a) {
      Access access = trace->accesses[by.accesses.first + a];
      if (!access.block || !joinable[access.block.index()]) continue;
      const Address address = (*trace)[access.block].address + access.offset;
      const BlockId* at = live.Find(address);
      if (!at) {
        not_joined->Add("addresses of nodes in a segment where no block lay",
                        by.node ? Named("node ", by.node.value) : "work outside of graphs");
        continue;
      }
      access.block = *at;
      access.offset = address - (*trace)[*at].address;
      const Bytes left = (*trace)[*at].size - access.offset;
      if (access.length != kLengthUnknown) access.length = std::min(access.length, left);
      trace->accesses.Set(by.accesses.first + a, access);
      ++joined;
    }
  }
  ApplyNodeChanges(trace);
  return joined;
}

Result<void> OfOneProcess(std::span<const MergeInput* const> topologies) {
  const MergeInput* first = nullptr;
  for (const MergeInput* input : topologies) {
    const Process& process = input->imported.trace.process;
    if (process.device == DeviceKind::kImported) continue;
    if (first == nullptr) first = input;
    const Process& known = first->imported.trace.process;
    if (known.pid == process.pid && known.program == process.program) continue;
    const auto of = [](const Process& one) {
      return one.program + " (process " + std::to_string(one.pid) + ")";
    };
    return Error{.message = "it is of " + of(process) + ", and " + first->name + " of " + of(known),
                 .hint = kApartHint,
                 .file = input->name};
  }
  return {};
}

void CountSeen(const Trace& snapshot, const Trace& trace, ProcessEvidence* evidence) {
  std::vector<Address> given;
  for (const Block& block : trace.blocks) {
    if (IsDriver(trace, block)) given.push_back(block.address);
  }
  std::ranges::sort(given);
  evidence->saw_driver = !given.empty();
  for (const Block& block : snapshot.blocks) {
    if (!IsDriver(snapshot, block)) continue;
    ++evidence->segments;
    evidence->seen += std::ranges::binary_search(given, block.address);
  }
}

Result<std::string> JudgeProcess(const ProcessEvidence& evidence, const std::string& trace,
                                 const std::string& snapshot) {
  const std::string contradiction = Contradiction(evidence, trace);
  if (!contradiction.empty()) {
    return Error{.message = "it is of another process than " + trace + ": " + contradiction,
                 .hint = kApartHint,
                 .file = snapshot};
  }
  if (evidence.segments > 0 && evidence.seen == evidence.segments) {
    if (evidence.differences.size() < kEnough) return std::string();
    const int64_t apart = std::abs(MedianOf(evidence.differences));
    if (apart < kJitter) return std::string();
    return snapshot + " has the same memory as " + trace + ", but " +
           FormatCount(static_cast<uint64_t>(apart / (kOneSecond / 1000))) +
           " ms apart: is it of the same process?";
  }
  if (evidence.seen == 0) {
    return "nothing says whether " + snapshot + " is of the process of " + trace +
           ": no memory is in both";
  }
  return FormatCount(evidence.segments - evidence.seen) + " of the " +
         FormatCount(evidence.segments) + " segments of " + snapshot +
         " are no memory that the driver gave in " + trace + ": is it of the same process?";
}

}  // namespace graphkit
