// Checks of memory, graphs, streams and events that are never given back.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/library_pool.h"

namespace graphkit {
namespace {

// Memory that is there when the program ends, and whether that looks like a leak.
//
//     launches, captures   ──│────│────│────│──     kept: weights, optimizer state, workspaces
//     blocks of line 7     x                        made before or once, and used to the end
//     blocks of line 9       x    x    x    x       grows: made in each interval, none ever freed
//
// Memory that an allocator of the program (PyTorch's, a pool) or a library has at the end is kept
// on purpose, unless it grows. What the program itself asked the driver for and never freed leaked.
// In a Python program a library asked for all of it, whether or not stacks name it, and one with a
// pool of its own (CuPy, ONNX Runtime) gets more from the driver on purpose.

// Blocks of one pool, made by one call stack; without stacks, of one size.
struct UnfreedSite {
  StackId stack;
  PoolId pool;
  std::vector<BlockId> blocks = {};
  Bytes bytes = 0;       // as asked for
  bool managed = false;  // by an allocator or a library
  bool pooled = false;   // by a library that may have a pool of its own
  // Between launches and captures, in which it made what no graph has; 0: some of what it made was
  // freed.
  uint32_t intervals = 0;

  bool grows() const { return intervals >= 3; }
  bool leaked() const { return !managed || (grows() && !pooled); }
};

// The key of its site.
std::tuple<StackId, PoolId, Bytes> KeyOf(const Block& block) {
  return {block.stack, block.pool, block.stack.valid() ? 0 : block.size};
}

bool IsAllocators(PoolKind kind) {
  return kind == PoolKind::kAllocator || kind == PoolKind::kPrivate;
}

// Places where an interval ends: launches, and begins and ends of captures.
std::vector<Seq> IntervalsOf(const Ran& trace) {
  std::vector<Seq> intervals;
  for (const Launch& launch : trace.launches) intervals.push_back(launch.seq);
  for (const Capture& capture : trace.captures) {
    intervals.push_back(capture.begin);
    if (capture.end != kNever) intervals.push_back(capture.end);
  }
  std::ranges::sort(intervals);
  return intervals;
}

bool NeverFreed(const Ran& trace, const Block& block) {
  if (block.freed() || block.alloc_node.valid() || block.size == 0) return false;
  if (IsRegistered(trace, block)) return false;  // its owner is not CUDA
  return !block.pool.valid() || trace[block.pool].destroyed == kNever;
}

// A graph's blocks, and those that it touches, are as many as its graphs: not counted. A library
// keeps a workspace for each stream: only another one of the same stream is growth.
uint32_t CountIntervals(const Facts& facts, const std::vector<Seq>& intervals,
                        const UnfreedSite& site) {
  uint32_t count = 0;
  std::ptrdiff_t last = -1;
  std::set<StreamId> streams;
  const bool by_stream = !LibraryMemory(facts.trace, site.stack).empty();
  for (const BlockId id : site.blocks) {
    const Block& block = facts.trace[id];
    if (block.graph.valid() || !facts.lives().Touches(id).empty()) continue;
    if (by_stream && streams.insert(block.stream).second) continue;
    const auto interval = std::ranges::upper_bound(intervals, block.allocated) - intervals.begin();
    if (interval != last) ++count;
    last = interval;
  }
  return count;
}

// In order of their first blocks. None of a trace that doesn't say what was freed.
std::vector<UnfreedSite> FindUnfreed(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::vector<UnfreedSite> sites;
  if (!KnowsWhatWasFreed(trace)) return sites;
  const bool python = IsPythonProgram(trace);
  const bool has_allocator =
      std::ranges::any_of(trace.pools, [](const Pool& pool) { return IsAllocators(pool.kind); });
  std::map<std::tuple<StackId, PoolId, Bytes>, size_t> by_key;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (facts.lives().backs_segment[i] || !NeverFreed(trace, block)) continue;
    const auto [found, fresh] = by_key.emplace(KeyOf(block), sites.size());
    if (fresh) {
      // Memory straight from the driver is a library's if that asked for it. Without a stack: where
      // an allocator serves the program, the rest is what libraries ask for themselves.
      const bool allocators = IsAllocators(KindOf(trace, block.pool));
      const bool pooled = !allocators && (python || !LibraryPool(trace, block.stack).empty());
      const bool librarys =
          block.stack.valid() ? CallSiteOf(trace, block.stack).inner.has_value() : has_allocator;
      sites.push_back({.stack = block.stack,
                       .pool = block.pool,
                       .managed = allocators || librarys || pooled,
                       .pooled = pooled});
    }
    sites[found->second].blocks.emplace_back(i);
    sites[found->second].bytes += block.size;
  }
  const std::vector<Seq> intervals = IntervalsOf(trace);
  for (UnfreedSite& site : sites) site.intervals = CountIntervals(facts, intervals, site);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const auto found = by_key.find(KeyOf(trace.blocks[i]));
    if (found != by_key.end() && trace.blocks[i].freed()) sites[found->second].intervals = 0;
  }
  return sites;
}

// In the order of PoolKind.
constexpr const char* kPoolKinds[] = {
    "device memory",       "a driver memory pool", "graph memory",  "an allocator's pool",
    "an allocator's pool", "pinned host memory",   "managed memory"};

constexpr std::string_view kOtherMemory = "other memory";

// By its library's name for it, else by what graphs do with it.
std::string_view PurposeOf(const Facts& facts, const UnfreedSite& site) {
  const Ran& trace = facts.trace;
  const std::string_view pool = site.pooled ? LibraryPool(trace, site.stack) : "";
  if (!pool.empty()) return pool;
  const std::string_view role = RoleText(NameOfStack(trace, site.stack).role);
  if (!role.empty()) return role;
  if (const auto library = LibraryMemory(trace, site.stack); !library.empty()) return library;
  if (trace[site.blocks.front()].graph.valid()) return "made in captures";
  return facts.lives().Touches(site.blocks.front()).empty() ? kOtherMemory : "inputs of graphs";
}

Finding LeakOf(const Facts& facts, const UnfreedSite& site) {
  const Ran& trace = facts.trace;
  const BlockId first = site.blocks.front();
  const PoolKind kind = KindOf(trace, site.pool);
  Finding finding{.bytes = site.bytes, .graph = trace[first].graph, .blocks = site.blocks};
  finding.evidence.push_back(AllocatedThere(facts, first));
  finding.message = Say(trace, "{} of {} {} never freed: {}", ListOf(finding.blocks),
                        kPoolKinds[static_cast<size_t>(kind)], Was(finding.blocks.size()),
                        FormatBytes(finding.bytes));
  if (site.grows()) {
    finding.message +=
        Say(trace, ", and it grows: made by one line in {} between launches and captures",
            Counted(site.intervals, "interval"));
  }
  finding.advice = "free the memory where its owner ends, or keep it in a pool that is destroyed";
  return finding;
}

// Memory that one line of the program, or of a library, keeps for one purpose.
struct KeptLine {
  std::string_view purpose;
  Bytes bytes = 0;
  std::vector<BlockId> blocks = {};
  StackId stack = {};
};

std::vector<KeptLine> LinesOf(const Facts& facts, const std::vector<const UnfreedSite*>& kept) {
  std::map<std::pair<std::string, std::string_view>, KeptLine> by_line;
  for (const UnfreedSite* site : kept) {
    const std::string_view purpose = PurposeOf(facts, *site);
    const std::optional<uint32_t> frame = CallSiteOf(facts.trace, site->stack).outermost();
    KeptLine& line = by_line[{frame ? PlaceOfFrame(facts.trace, *frame) : "", purpose}];
    if (line.blocks.empty()) line = {.purpose = purpose, .stack = site->stack};
    line.bytes += site->bytes;
    line.blocks.insert(line.blocks.end(), site->blocks.begin(), site->blocks.end());
  }
  std::vector<KeptLine> lines = TakeValues(&by_line);
  std::ranges::stable_sort(lines, std::greater(), &KeptLine::bytes);
  return lines;
}

// "1.5 GiB optimizer state, 512 MiB weights and buffers": the most bytes first.
std::string PurposesText(const std::vector<KeptLine>& lines) {
  std::vector<KeptLine> sums;
  for (const KeptLine& line : lines) {
    auto sum = std::ranges::find(sums, line.purpose, &KeptLine::purpose);
    if (sum == sums.end()) sum = sums.insert(sum, {.purpose = line.purpose});
    sum->bytes += line.bytes;
  }
  std::ranges::stable_sort(sums, std::greater(), &KeptLine::bytes);
  std::string text;
  for (const KeptLine& sum : sums)
    text += (text.empty() ? "" : ", ") + FormatBytes(sum.bytes) + " " + std::string(sum.purpose);
  return text;
}

// All that is kept, in one note: a line for each line of code, the most bytes first.
Finding KeptNote(const Facts& facts, const std::vector<const UnfreedSite*>& kept) {
  Finding note{.severity = Severity::kNote};
  const std::vector<KeptLine> lines = LinesOf(facts, kept);
  for (const KeptLine& line : lines) {
    note.blocks.insert(note.blocks.end(), line.blocks.begin(), line.blocks.end());
    note.bytes += line.bytes;
    AddEvidence(&note,
                Say(facts.trace, "{} in {}, {}", FormatBytes(line.bytes),
                    Counted(line.blocks.size(), "block"), line.purpose),
                line.stack, {}, line.blocks);
  }
  note.message =
      Say(facts.trace, "kept until the end: {}, {} ({})", Counted(note.blocks.size(), "block"),
          FormatBytes(note.bytes), PurposesText(lines));
  return note;
}

// Graphs that the program owns: embedded ones go with their node.
bool Owned(const Graph& graph) {
  return graph.origin == GraphOrigin::kCapture || graph.origin == GraphOrigin::kExplicit ||
         graph.origin == GraphOrigin::kClone;
}

constexpr size_t kPoolStreams = 4;  // of a pool, at least
constexpr size_t kMostKept = 100;   // streams and events that a Python program's variables hold

// By stream: true if anything of the trace was done on it.
std::vector<bool> UsedStreams(const Ran& trace) {
  std::vector<bool> used(trace.streams.size());
  const auto use = [&](StreamId stream) {
    if (stream.valid()) used[stream.index()] = true;
  };
  for (const Node& node : trace.nodes) use(node.stream);
  for (const StreamOp& op : trace.stream_ops) use(op.stream);
  for (const Capture& capture : trace.captures) use(capture.origin);
  for (const Launch& launch : trace.launches) use(launch.stream);
  for (const EagerWork& work : trace.works) use(work.stream);
  for (const Block& block : trace.blocks) use(block.stream);
  return used;
}

}  // namespace

// block-leak: memory that was allocated and never freed: what leaked, and in one note what is kept.
std::vector<Finding> FindBlockLeaks(const Facts& facts) {
  std::vector<Finding> findings;
  std::vector<const UnfreedSite*> kept;
  const std::vector<UnfreedSite> sites = FindUnfreed(facts);
  for (const UnfreedSite& site : sites) {
    if (site.leaked()) {
      findings.push_back(LeakOf(facts, site));
    } else {
      kept.push_back(&site);
    }
  }
  // What has a purpose is meant to be kept, as is what a Python program's variables hold when the
  // interpreter ends; `--at end` lists it.
  const auto other = [&](const UnfreedSite* site) {
    return PurposeOf(facts, *site) == kOtherMemory;
  };
  if (!IsPythonProgram(facts.trace) && std::ranges::any_of(kept, other))
    findings.push_back(KeptNote(facts, kept));
  return findings;
}

// graph-leak: graphs that were never destroyed.
std::vector<Finding> FindGraphLeaks(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  // A graph that is still being captured isn't the program's yet.
  const std::vector<bool> open = CapturedWith(trace, CaptureStatus::kOpen);
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (!Owned(trace[graph]) || trace[graph].destroyed != kNever) return;
    if (facts.invalidated()[graph.index()] || open[graph.index()]) return;
    finding->message = NameOf(trace, graph) + " was never destroyed";
    finding->advice = "call cudaGraphDestroy once the graph is instantiated";
  });
}

// graph-allocation-leak: memory that a graph allocates and that is never freed.
std::vector<Finding> FindGraphAllocationLeaks(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (facts.invalidated()[graph.index()]) return;
    for (const BlockId id : facts.blocks()[graph.index()]) {
      const Block& block = trace[id];
      if (!block.alloc_node.valid() || block.free_node.valid() || block.freed()) continue;
      if (!trace.graph_nodes.Has(block.alloc_node)) continue;
      finding->blocks.push_back(id);
      finding->nodes.push_back(block.alloc_node);
      finding->bytes += block.size;
      AddEvidence(finding, "allocated by " + NameOf(trace, block.alloc_node), block.stack);
    }
    if (finding->blocks.empty()) return;
    const std::vector<uint32_t>& launches = facts.launches()[graph.index()];
    const bool launched = !launches.empty();
    const bool frees = std::ranges::all_of(launches, [&](uint32_t launch) {  // each exec, on launch
      return (trace[trace.launches[launch].exec].flags & kInstantiateAutoFreeOnLaunch) != 0;
    });
    finding->severity = launched && !frees ? Severity::kError : Severity::kWarning;
    finding->message = Say(trace, "{} allocates {}, never freed{}", graph, BlocksText(*finding),
                           !launched ? "; the graph can be launched only once"
                           : frees   ? " but by its next launch"
                                     : "; relaunching this graph will fail");
    finding->advice =
        "free it in the graph (cudaFreeAsync while capturing, or a memory-free node), or with "
        "cudaFreeAsync after each launch";
  });
}

// event-stream-leak: streams and events that were never destroyed.
std::vector<Finding> FindEventStreamLeaks(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  Finding finding;
  const std::vector<bool> used = UsedStreams(trace);
  uint64_t unused = 0;
  for (const auto& [i, stream] : Enumerate(trace.streams)) {
    if (stream.kind != StreamKind::kCreated || stream.destroyed != kNever) continue;
    finding.streams.emplace_back(i);
    unused += !used[i];
  }
  uint64_t events = 0;
  for (const Event& event : trace.events) events += event.destroyed == kNever;
  // Only a library that hands streams out makes many and uses few: it keeps them on purpose.
  if (finding.streams.size() >= kPoolStreams && unused > finding.streams.size() / 2)
    finding.streams.clear();
  const size_t most = IsPythonProgram(trace) ? kMostKept : 0;
  if (finding.streams.size() + events <= most) return {};
  if (!finding.streams.empty()) {
    finding.message =
        Counted(finding.streams.size(), "stream") + " (" + ListOf(trace, finding.streams) + ")";
  }
  if (events > 0)
    finding.message += (finding.message.empty() ? "" : " and ") + Counted(events, "event");
  finding.message += Say(trace, " {} never destroyed", Was(finding.streams.size() + events));
  finding.advice = "destroy streams and events when they are used no more, or keep them in a pool";
  return {std::move(finding)};
}

}  // namespace graphkit
