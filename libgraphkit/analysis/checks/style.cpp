// Checks of programs that could be simpler or faster: the shape of their graphs, and the time that
// captures take on the host.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// The longest path of a graph if its nodes were ordered by what they touch and nothing else.
struct DataPaths {
  struct Path {
    uint64_t nodes = 0;    // of the graph, as long as the rest is so
    uint64_t longest = 0;  // by data
    bool known = true;     // what its nodes touch
    StreamId stream;       // of all its nodes, if they have one in common
    bool one_stream = true;
  };

  std::vector<Path> FindPaths() {
    for (const NodeId id : facts.trace.graph_nodes) Add(facts.trace[id]);
    return std::move(graphs);
  }

  // The longest path to the last writer of a block, and to any reader since.
  struct Ends {
    GraphId graph;
    uint64_t written = 0;
    uint64_t read = 0;
  };

  void Add(const Node& node) {
    Path& graph = graphs[node.graph.index()];
    if (!graph.known || !graph.one_stream) return;
    if (graph.nodes++ == 0) graph.stream = node.stream;
    graph.one_stream = graph.one_stream && node.stream.valid() && node.stream == graph.stream;
    const bool work = node.kind == NodeKind::kKernel || node.kind == NodeKind::kMemcpy ||
                      node.kind == NodeKind::kMemset;
    graph.known = graph.known && work && node.accesses_complete && node.accesses.count > 0;
    if (!graph.known || !graph.one_stream) return;
    uint64_t start = 0;
    const AccessColumn::Range accesses = facts.trace.accesses.Of(node.accesses);
    for (const Access& access : accesses) {
      const Ends& ends = EndsOf(access, node.graph);
      start = std::max(start, ends.written);
      if (access.mode != AccessMode::kRead) start = std::max(start, ends.read);
    }
    for (const Access& access : accesses) {
      Ends& ends = EndsOf(access, node.graph);
      uint64_t& end = access.mode == AccessMode::kRead ? ends.read : ends.written;
      end = std::max(end, start + 1);
    }
    graph.longest = std::max(graph.longest, start + 1);
  }

  Ends& EndsOf(const Access& access, GraphId graph) {
    Ends& ends = blocks[access.block];
    if (ends.graph != graph) ends = {.graph = graph};
    return ends;
  }

  const Facts& facts;
  std::vector<Path> graphs = std::vector<Path>(facts.trace.graphs.size());
  std::unordered_map<BlockId, Ends> blocks = {};
};

constexpr std::string_view kRange = "garbage collection";  // as the hook for Python names them

// The blocks whose free was requested inside [begin, end), by the place of their free.
std::vector<BlockId> FreedIn(const Ran& trace, const std::vector<uint32_t>& by_free, Seq begin,
                             Seq end) {
  const auto free_of = [&](uint32_t block) { return trace.blocks[block].free_requested; };
  const auto first = std::ranges::lower_bound(by_free, begin, {}, free_of);
  return {first, std::ranges::lower_bound(by_free, end, {}, free_of)};
}

constexpr Nanoseconds kSlowCall = 200'000;       // on average
constexpr Nanoseconds kLongPause = 100'000'000;  // before one node, or for collections

void DescribePauses(const Facts& facts, uint64_t pauses, Nanoseconds time, Finding* described) {
  const Ran& trace = facts.trace;
  Finding& finding = *described;
  // A pause costs time once; what is freed inside differs from run to run, and can break a capture.
  finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
  finding.message = Say(trace, "{} paused the capture of {}", Counted(pauses, "garbage collection"),
                        finding.graph);
  if (time > 0) finding.message += " for " + FormatNanoseconds(time);
  if (!finding.blocks.empty()) {
    finding.message += Say(trace, " and freed {} in {} inside of it", FormatBytes(finding.bytes),
                           ListOf(finding.blocks));
  }
  for (const BlockId block : finding.blocks) {
    if (finding.evidence.size() == kShownEvidence) break;
    if (trace[block].stack.valid()) finding.evidence.push_back(AllocatedThere(facts, block));
  }
  finding.advice =
      "collect before the capture and switch collection off in it: gc.collect(); gc.disable()";
}

// Checks of graphs that were captured again by the same code.
//
//     serve.py:20   graph 0: Scale(x at 0x1000)      graph 1: Scale(x at 0x2000)
//                            └ recorded again for the address alone: a copy of x would do

// Causes of a recording although one of the same code was there.
enum class Moved : uint8_t { kAddress, kLayout, kSize, kOther };

// An input, where a node accesses it.
struct InputUse {
  BlockId block;
  Address place = 0;
};

struct Recording {
  GraphId graph;
  Seq ended = 0;  // its capture
  std::vector<InputUse> uses = {};
  uint64_t form = 0, sizes = 0, values = 0;  // hashes: accesses of inputs; extents; arguments
  Moved Since(const Recording& old) const {
    if (form != old.form || uses.size() != old.uses.size()) return Moved::kOther;
    if (sizes != old.sizes) return Moved::kSize;
    return values != old.values ? Moved::kLayout : Moved::kAddress;
  }
};

struct MovedInput {
  size_t use = 0;
  BlockId from, to;
};

// Graphs of the same code, in the order of their captures.
struct Recordings {
  std::vector<Recording> all = {};
  std::vector<std::vector<MovedInput>> saved = {};  // of those that a copy would have saved
  size_t repeated = 0;                              // of these, with the addresses of another one
  std::map<std::pair<Moved, std::string>, size_t> others = {};  // by what moved, and of which line
};

struct RecordingFinder {
  std::vector<Finding> Find() {
    // A line, how many nodes it makes, and a hash of what they are.
    using Code = std::tuple<std::string, size_t, uint64_t>;
    std::map<Code, std::vector<const Capture*>> by_code;
    for (const Capture& capture : trace.captures) {
      const bool whole = capture.status == CaptureStatus::kCompleted && !capture.recapture;
      if (!whole || !capture.graph.valid() || trace[capture.graph].parent.valid()) continue;
      if (of_graph.Of(capture.graph.index()).empty()) continue;
      Code code{"", of_graph.Of(capture.graph.index()).size(), 0};
      auto& [line, nodes, hash] = code;
      for (const uint32_t id : of_graph.Of(capture.graph.index())) {
        const Node node = trace.nodes[id];
        if (line.empty() && node.stack.valid()) line = OwnPlace(trace, node.stack);
        hash = HashOf(hash, node.kernel.value, static_cast<uint64_t>(node.kind));
      }
      by_code[std::move(code)].push_back(&capture);
    }
    std::vector<Finding> findings;
    for (const auto& [code, captures] : by_code) {
      Recordings recordings;
      for (size_t i = 0; captures.size() > 1 && i < captures.size(); ++i)
        Add(*captures[i], &recordings);
      if (!recordings.saved.empty()) findings.push_back(Describe(recordings, std::get<1>(code)));
    }
    std::ranges::stable_sort(findings, {}, &Finding::graph);
    return findings;
  }

  Recording Read(const Capture& capture) const {
    Recording recording{.graph = capture.graph, .ended = capture.end};
    for (const uint32_t id : of_graph.Of(capture.graph.index())) {
      const Node node = trace.nodes[id];
      recording.sizes = HashOf(recording.sizes, uint64_t{node.shape});
      for (const Scalar& scalar : RowsAt(trace.scalars, node.seq))
        recording.values = HashOf(recording.values, scalar.argument, scalar.offset, scalar.bits);
      for (const Access& access : trace.accesses.Of(node.accesses)) {
        const bool input = IsInput(capture.graph, access.block);
        recording.form = HashOf(recording.form, id - of_graph.Of(capture.graph.index())[0], input);
        if (!input) continue;
        const Block block = trace[access.block];
        recording.sizes = HashOf(recording.sizes, access.length, block.size);
        recording.uses.push_back({access.block, block.address + access.offset});
      }
    }
    return recording;
  }

  // Of a trial, as a server makes to measure its memory: destroyed before it was ever launched.
  bool WasTrial(const Recording& old, const Capture& capture) const {
    const auto gone = [&](uint32_t at) { return trace.exec_graphs[at].until < capture.begin; };
    return std::ranges::all_of(facts.exec_graphs().Of(old.graph.index()), gone) &&
           facts.launches()[old.graph.index()].empty();
  }

  // Looks for a recording that `capture` could have done without, the last ones first.
  void Add(const Capture& capture, Recordings* same) const {
    constexpr size_t kMostTried = 1000;
    Recording now = Read(capture);
    const Recording* alike = nullptr;  // the last one of the same sizes and arguments
    bool served = false;
    for (size_t i = same->all.size(); !served && i-- > 0 && same->all.size() - i <= kMostTried;) {
      const Recording& old = same->all[i];
      if (now.Since(old) != Moved::kAddress || WasTrial(old, capture)) continue;
      const auto moved = MovedBetween(old, now, &capture);
      served = moved.has_value();
      const bool repeats = served && moved->empty() && alike != nullptr;
      if (repeats) ++same->repeated;
      if (alike == nullptr) alike = &old;
      if (served && (repeats || !moved->empty()))
        same->saved.push_back(repeats ? *MovedBetween(*alike, now, nullptr) : *moved);
    }
    if (!served && !same->all.empty()) AddCause(alike ? *alike : same->all.back(), now, same);
    same->all.push_back(std::move(now));
  }

  void AddCause(const Recording& old, const Recording& now, Recordings* same) const {
    const Moved cause = now.Since(old);
    if (cause == Moved::kOther) return;
    const auto moved = *MovedBetween(old, now, nullptr);
    ++same->others[{cause, moved.empty() ? "" : OwnPlace(trace, trace[moved[0].to].stack)}];
  }

  // With a capture, nothing where both are there side by side, as the weights of two layers are, or
  // where a launch makes the input, as a forward's for its backward.
  std::optional<std::vector<MovedInput>> MovedBetween(const Recording& old, const Recording& now,
                                                      const Capture* capture) const {
    std::vector<MovedInput> moved;
    for (size_t i = 0; i < std::min(old.uses.size(), now.uses.size()); ++i) {
      const BlockId from = old.uses[i].block, to = now.uses[i].block;
      if (old.uses[i].place == now.uses[i].place) continue;
      if (capture != nullptr &&
          (trace[to].graph.valid() ||
           (trace[to].allocated <= old.ended && trace[from].free_requested >= capture->begin))) {
        return std::nullopt;
      }
      const bool is_new = std::ranges::none_of(
          moved, [&](const MovedInput& one) { return one.from == from && one.to == to; });
      if (is_new) moved.push_back({i, from, to});
    }
    return moved;
  }

  bool IsInput(GraphId graph, BlockId block) const {
    return std::ranges::binary_search(facts.inputs()[graph.index()], block, {}, &GraphInput::block);
  }

  Finding Describe(const Recordings& of, size_t nodes) const {
    constexpr size_t kOften = 4;
    const size_t saved = of.saved.size();
    Finding finding{
        .severity = saved >= kOften + of.repeated ? Severity::kWarning : Severity::kNote,
        .graph = of.all[0].graph};
    Bytes copied = 0;
    for (const std::vector<MovedInput>& moved : of.saved) {
      Bytes bytes = 0;
      for (const MovedInput& one : moved) {
        bytes += trace[one.to].size;
        AddOnce(one.from, &finding.blocks);
        AddOnce(one.to, &finding.blocks);
      }
      copied = std::max(copied, bytes);
    }
    finding.message =
        Say(trace,
            "{} of {} of the same code ({}, {} first) {} made only because an input "
            "had another address; copying {} before a launch would have saved {}",
            saved, Counted(of.all.size(), "recording"), Counted(nodes, "node"), finding.graph,
            Was(saved), FormatBytes(copied), saved == 1 ? "it" : "them");
    finding.advice =
        "keep one buffer for the input, and copy each new value into it before the launch";
    for (const MovedInput& one : of.saved.front()) {
      if (finding.evidence.size() >= kShownEvidence) break;
      std::set<Address> places;
      for (const Recording& other : of.all) {
        if (one.use >= other.uses.size()) continue;
        const InputUse& use = other.uses[one.use];
        if (trace[use.block].size == trace[one.to].size) places.insert(use.place);
      }
      AddEvidence(&finding,
                  Say(trace, "{} stands where {} was (one of {} addresses)", NameOf(trace, one.to),
                      NameOf(trace, one.from), places.size()),
                  trace[one.to].stack, {}, {one.to});
    }
    if (of.repeated != 0) {
      AddEvidence(&finding,
                  Counted(of.repeated, "recording") +
                      " had the addresses of an earlier one, whose graph would have done");
    }
    for (const auto& [key, count] : of.others) {
      constexpr const char* kWords[] = {"at another address beside the first",
                                        "with other arguments (layout, values)", "of another size"};
      AddEvidence(&finding, Counted(count, "recording") + " had an input " +
                                kWords[static_cast<size_t>(key.first)] +
                                (key.second.empty() ? "" : ", allocated at " + key.second));
    }
    return finding;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const Grouped of_graph{
      Group(trace.nodes, trace.graphs.size(), [](const Node& node) { return node.graph; })};
};

}  // namespace

// empty-node: empty nodes that save no edges.
// An empty node with several edges on both sides saves edges; with one or none it does nothing.
std::vector<Finding> FindEmptyNodes(const Facts& facts) {
  const Ran& trace = facts.trace;
  const auto is_empty = [](const Node& node) { return node.kind == NodeKind::kEmpty; };
  if (std::ranges::none_of(trace.nodes.shared(), is_empty)) return {};
  std::vector<uint32_t> out(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges().edges) ++out[edge.from.index()];
  std::vector<std::vector<NodeId>> empty(trace.graphs.size());
  for (const NodeId id : trace.graph_nodes) {
    if (!is_empty(trace[id])) continue;
    if (facts.in_edges().Of(id.index()).size() <= 1 || out[id.index()] <= 1)
      empty[trace[id].graph.index()].push_back(id);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    finding->nodes = std::move(empty[graph.index()]);
    if (finding->nodes.empty()) return;
    for (size_t i = 0; i < std::min(finding->nodes.size(), kShownEvidence); ++i)
      finding->evidence.push_back(CapturedThere(trace, finding->nodes[i]));
    finding->message = Say(trace, "{} of {} could be left out without more edges",
                           Counted(finding->nodes.size(), "empty node"), graph);
    finding->advice = "connect the node before it with the nodes after it";
  });
}

// redundant-edge: edges that others imply.
std::vector<Finding> FindRedundantEdges(const Facts& facts) {
  const Ran& trace = facts.trace;
  constexpr size_t kShare = 25;  // fewer than one in 25 of a graph's edges: nothing is saved
  std::vector<std::vector<EdgeId>> by_graph(trace.graphs.size());
  for (const EdgeId edge : RedundantEdges(trace, facts.order(), facts.in_edges())) {
    const Node& to = trace[trace[edge].to];
    // A stream's own order isn't the program's to leave out.
    const bool own = to.stream.valid() && trace[trace[edge].from].stream == to.stream;
    if (trace[edge].full() && !own) by_graph[to.graph.index()].push_back(edge);
  }
  if (std::ranges::all_of(by_graph, &std::vector<EdgeId>::empty)) return {};
  std::vector<size_t> of_graph(trace.graphs.size());
  for (size_t to = 0; to < trace.nodes.size(); ++to)
    of_graph[trace.nodes[to].graph.index()] += facts.in_edges().Of(to).size();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<EdgeId>& edges = by_graph[graph.index()];
    if (edges.empty() || edges.size() * kShare < of_graph[graph.index()]) return;
    finding->message = Say(trace, "{} of {} {} implied by others", Counted(edges.size(), "edge"),
                           graph, Is(edges.size()));
    finding->advice =
        "leave out the wait that makes the edge: the stream is after that work already";
    for (size_t i = 0; i < std::min(edges.size(), kShownEvidence); ++i) {
      const Edge& edge = trace[edges[i]];
      AddEvidence(finding,
                  Say(trace, "{} is before {} without edge {}", edge.from, edge.to, edges[i].value),
                  trace[edge.to].stack, {edge.from, edge.to});
      finding->evidence.back().edges = {edges[i]};
    }
  });
}

// serialized-branches: independent work captured on one stream.
std::vector<Finding> FindSerializedBranches(const Facts& facts) {
  constexpr uint64_t kFewest = 8;  // nodes that a graph must have for its shape to matter
  const std::vector<DataPaths::Path> paths = DataPaths{facts}.FindPaths();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const DataPaths::Path& path = paths[graph.index()];
    if (!path.known || !path.one_stream || path.nodes < kFewest) return;
    if (2 * path.longest > path.nodes) return;
    finding->streams = {path.stream};
    finding->message = Say(facts.trace,
                           "all {} of {} run one after another on {}; data dependencies need a "
                           "chain of only {}",
                           Counted(path.nodes, "node"), graph, path.stream, path.longest);
    finding->advice = "capture independent branches on streams of their own, joined by events";
    finding->assumes = Assumption::kArguments;
  });
}

// collection-in-capture: garbage collections that paused a capture, and what they freed inside.
std::vector<Finding> FindCollectionsInCaptures(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::vector<Interval<Seq>> collections;
  for (const NvtxRange& range : trace.nvtx_ranges) {
    if (trace[range.name].starts_with(kRange)) collections.push_back({range.begin, range.end});
  }
  std::vector<Finding> findings;
  if (collections.empty()) return findings;
  std::vector<Interval<Seq>> captures;
  for (const Capture& capture : trace.captures) captures.push_back({capture.begin, capture.end});
  const std::vector<uint32_t> by_free = BlocksBySeq(trace, &Block::free_requested);
  const std::vector<OverlapPair> overlaps = FindOverlaps<Seq>(captures, collections);
  for (auto at = overlaps.begin(); at != overlaps.end();) {
    const Capture& capture = trace.captures[at->a];
    Finding finding{.graph = capture.graph};
    uint64_t pauses = 0;
    Nanoseconds time = 0;
    for (const size_t own = at->a; at != overlaps.end() && at->a == own; ++at) {
      const Seq begin = std::max(collections[at->b].begin, capture.begin);
      const Seq end = std::min(collections[at->b].end, capture.end);
      ++pauses;
      const Nanoseconds from = TimeAt(trace, begin), to = TimeAt(trace, end);
      if (from != 0 && to > from) time += to - from;
      for (const BlockId block : FreedIn(trace, by_free, begin, end))
        AddBlock(trace, block, &finding);
    }
    if (finding.blocks.empty() && time < kLongPause) continue;
    DescribePauses(facts, pauses, time, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

// slow-capture: captures whose calls take long on the host, or that something held up.
// Times of the software device are those of a simulation.
std::vector<Finding> FindSlowCaptures(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (trace.process.device == DeviceKind::kSoft) return {};
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const HostTime& time = facts.host_times()[graph.index()];
    if (time.calls == 0) return;
    if (time.per_call() < kSlowCall && time.longest < kLongPause) return;
    finding->message = Say(trace, "capturing {} took the host {}: {} for each of {}", graph,
                           FormatNanoseconds(time.total), FormatNanoseconds(time.per_call()),
                           Counted(time.calls, "call"));
    finding->advice =
        "warm up what runs for the first time before the capture, and collect garbage before it";
    if (!time.longest_before.valid()) return;
    finding->nodes = {time.longest_before};
    AddEvidence(finding,
                Say(trace, "the longest pause was {}, before {}", FormatNanoseconds(time.longest),
                    time.longest_before),
                trace[time.longest_before].stack, {time.longest_before});
  });
}

// recorded-again: captures of the same code that a copy of an input would have saved.
std::vector<Finding> FindRecordedAgain(const Facts& facts) {
  if (facts.trace.captures.size() < 2) return {};
  return RecordingFinder{facts}.Find();
}

}  // namespace graphkit
