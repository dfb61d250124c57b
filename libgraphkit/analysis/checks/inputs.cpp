// Checks of the memory that graphs are given: inputs, and copies of memory of the host.

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/staging.h"

namespace graphkit {
namespace {

// True if it is to be shown.
bool AddInput(const Ran& trace, const GraphInput& input, Finding* finding) {
  AddBlock(trace, input.block, finding);
  finding->nodes.push_back(input.node);
  finding->assumes = Assumption::kArguments;
  return finding->evidence.size() < kShownEvidence;
}

// The trace records if the first node that touches the input reads or writes it.
bool KnownUse(const Ran& trace, const GraphInput& input) {
  return std::ranges::any_of(
      trace.accesses.Of(trace[input.node].accesses), [&](const Access& access) {
        return access.block == input.block && access.mode != AccessMode::kUnknown;
      });
}

// True if some node of the graph is known to touch the input.
bool SurelyTouches(const Facts& facts, GraphId graph, BlockId block) {
  return std::ranges::any_of(facts.lives().Touches(block), [&](const NodeId node) {
    return facts.RootOf(node) == graph && !OnlyMayTouch(facts.trace, node, block);
  });
}

// True if a node of the graph surely reaches a block: a copy or a memset, not a kernel that was
// given its address.
bool Copies(const Facts& facts, GraphId graph, BlockId block) {
  return std::ranges::any_of(facts.lives().Touches(block), [&](const NodeId touch) {
    return facts.RootOf(touch) == graph && facts.trace[touch].kind != NodeKind::kKernel;
  });
}

// Adds what freed an input, and the launch after it for the first one.
void AddFreed(const Facts& facts, GraphId graph, const GraphInput& input, bool host,
              Finding* finding) {
  const Ran& trace = facts.trace;
  const Block& block = trace[input.block];
  const bool registered = host && IsRegistered(trace, block);
  AddEvidence(finding,
              Say(trace, "{} was {} {}, and {} touches it", input.block,
                  registered ? "unregistered" : "freed", facts.places().Of(block.free_requested),
                  input.node),
              block.free_stack, {input.node}, {input.block});
  const uint32_t launch = LaunchesAfter(facts, graph, block.free_requested).front();
  if (finding->blocks.size() == 1 && trace.launches[launch].stack.valid())
    finding->evidence.push_back(LaunchedThere(trace, launch, graph));
}

// Launches of graphs whose inputs were freed and are no other block's by now: memory of the host,
// or not. `of`: "memory", as the findings call it.
std::vector<Finding> FindFreedInputs(const Facts& facts, bool host, const char* of,
                                     const char* advice) {
  const Ran& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    bool known = false, sure = false, pooled = true;
    for (const auto& [input, now, in_pool] : facts.stale_inputs()[graph.index()]) {
      const bool page_locked = KindOf(trace, trace[input.block].pool) == PoolKind::kHost;
      if (now.valid() || page_locked != host) continue;
      pooled = pooled && in_pool;
      const bool copied = host && Copies(facts, graph, input.block);
      sure = sure || (!in_pool && SurelyTouches(facts, graph, input.block));
      known = known || (!in_pool && (copied || (!host && KnownUse(trace, input))));
      if (AddInput(trace, input, finding)) AddFreed(facts, graph, input, host, finding);
    }
    if (finding->blocks.empty()) return;
    finding->severity = sure ? Severity::kWarning : Severity::kNote;
    if (known) finding->severity = Severity::kError;
    finding->message = Say(trace, "{} was launched after {} that it touches was freed: {}", graph,
                           of, BlocksText(*finding));
    if (pooled) {
      finding->message +=
          "; its pool still has it, and handed it out in between: it must be "
          "written anew before the launch";
    }
    finding->advice = advice;
  });
}

// How far the stack of the launching thread reached, where that is recorded.
const StackTop* TopAt(const Ran& trace, uint32_t launch) {
  const Seq seq = trace.launches[launch].seq;
  const auto after = std::ranges::lower_bound(trace.stack_tops, seq, {}, &StackTop::seq);
  if (after == trace.stack_tops.begin()) return nullptr;
  const StackTop& top = *std::prev(after);
  const bool own = launch == 0 || trace.launches[launch - 1].seq < top.seq;
  return own ? &top : nullptr;
}

using HostCopies = std::vector<const HostCopy*>;

// "reads 4 KiB of pageable memory at 0x7f0000".
std::string HostCopyText(const HostEnd& end) {
  const std::string bytes = end.length == kLengthUnknown ? "" : FormatBytes(end.length) + " of ";
  const char* kind = end.kind == HostMemoryKind::kStack     ? "a function's stack"
                     : end.kind == HostMemoryKind::kProgram ? "the program's own memory"
                                                            : "pageable memory";
  return (end.mode == AccessMode::kWrite ? "writes " : "reads ") + bytes + kind + " at " +
         HexText(end.address);
}

void AddCopy(const Ran& trace, const HostCopy& copy, Finding* finding) {
  AddEvidence(finding, NameOf(trace, copy.node) + " " + HostCopyText(copy.end),
              trace[copy.node].stack, {copy.node});
}

// "4 KiB in 2 nodes".
std::string CopiedText(const Finding& finding) {
  return FormatBytes(finding.bytes) + " in " + Counted(finding.nodes.size(), "node");
}

// The copies of a thread's stack that a launch makes although that was given up; none: no message.
Finding JudgeLaunch(const Ran& trace, GraphId graph, const StackTop& top,
                    const HostCopies& copies) {
  Finding finding{.severity = Severity::kError, .graph = graph};
  for (const HostCopy* copy : copies) {
    if (trace[copy->node].thread != top.thread || copy->end.address >= top.address) continue;
    if (copy->end.length != kLengthUnknown) finding.bytes += copy->end.length;
    finding.nodes.push_back(copy->node);
    if (finding.evidence.size() < kShownEvidence) AddCopy(trace, *copy, &finding);
  }
  if (finding.nodes.empty()) return finding;
  finding.message =
      Say(trace, "{} was launched after the function had returned whose stack it copies: {} of {}",
          graph, CopiedText(finding), top.thread);
  finding.advice =
      "copy memory that lives as long as the graph (cudaMallocHost), or pass small values as "
      "kernel arguments";
  return finding;
}

// Stacks grow down: memory below the top had been given up. By graph, the first such launch.
std::vector<Finding> FindReturned(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::map<GraphId, Finding> found;
  if (trace.stack_tops.empty()) return {};
  std::map<GraphId, HostCopies> by_graph;
  for (const HostCopy& copy : facts.host_copies()) {
    if (copy.always && copy.end.kind == HostMemoryKind::kStack)
      by_graph[facts.RootOf(copy.node)].push_back(&copy);
  }
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    const GraphId graph = facts.ran()[i];
    const auto copies = by_graph.find(graph);
    const StackTop* top = copies != by_graph.end() ? TopAt(trace, i) : nullptr;
    if (top == nullptr || found.contains(graph)) continue;
    Finding finding = JudgeLaunch(trace, graph, *top, copies->second);
    if (!finding.message.empty()) found.emplace(graph, std::move(finding));
  }
  return TakeValues(&found);
}

// True if an exec of the graph is still there, or went after everything else was launched, and
// wasn't launched since it took the graph over.
bool KeptReady(const Facts& facts, GraphId graph) {
  const Ran& trace = facts.trace;
  const Seq last = trace.launches.back().seq;
  return std::ranges::any_of(facts.exec_graphs().Of(graph.index()), [&](uint32_t at) {
    const ExecGraph& of = trace.exec_graphs[at];
    const auto launches = facts.exec_launches().Of(of.exec.index());
    return of.until > last && (launches.empty() || trace.launches[launches.back()].seq < of.since);
  });
}

// By block: true if a graph that is launched touches it.
std::vector<bool> Needed(const Facts& facts) {
  std::vector<bool> needed(facts.trace.blocks.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    needed[i] = std::ranges::any_of(facts.lives().Touches(BlockId(i)), [&](const NodeId touch) {
      return !facts.launches()[facts.RootOf(touch).index()].empty();
    });
  }
  return needed;
}

// Two copies of a graph that read the same memory: as captured, the program may have filled it anew
// in between; in a replay both read what it holds then. Empty: there are none.
HostCopies FindReread(HostCopies copies) {
  std::erase_if(copies, [](const HostCopy* copy) { return copy->end.mode != AccessMode::kRead; });
  std::ranges::stable_sort(copies, {}, [](const HostCopy* copy) { return copy->end.address; });
  for (size_t i = 1; i < copies.size(); ++i) {
    const HostCopy &before = *copies[i - 1], &copy = *copies[i];
    if (before.node == copy.node || before.end.length == kLengthUnknown) continue;
    if (copy.end.address < before.end.address + before.end.length)
      return {copies[i - 1], copies[i]};
  }
  return {};
}

Finding JudgeCopies(const Ran& trace, GraphId graph, const HostCopies& copies) {
  Finding finding{.severity = Severity::kNote, .graph = graph};
  for (const HostCopy* copy : copies) {
    AddOnce(copy->node, &finding.nodes);
    if (copy->end.length != kLengthUnknown) finding.bytes += copy->end.length;
  }
  finding.message = Say(trace,
                        "{} copies pageable memory of the host ({}): each launch uses the address "
                        "that was captured",
                        graph, CopiedText(finding));
  finding.advice =
      "capture copies of page-locked memory (cudaMallocHost) that lives as long as the graph, or "
      "copy outside of it";
  const HostCopies reread = FindReread(copies);
  if (!reread.empty()) {
    finding.severity = Severity::kWarning;
    finding.message += "; two of them read the same memory, and get the same contents";
  }
  for (const HostCopy* copy : reread.empty() ? copies : reread) {
    if (finding.evidence.size() < kShownEvidence) AddCopy(trace, *copy, &finding);
  }
  return finding;
}

}  // namespace

// dead-input: launches of graphs whose inputs were freed. static-address-changed names inputs that
// are another block's by now, stale-host-memory the host's.
std::vector<Finding> FindDeadInputs(const Facts& facts) {
  return FindFreedInputs(facts, false, "memory",
                         "keep the memory of a graph's inputs as long as the graph is launched");
}

// stale-host-memory: launches of graphs with copies of memory of the host that was given up before:
// page-locked memory that was freed or that other transfers used, and stacks of functions that had
// returned.
std::vector<Finding> FindStaleHostMemory(const Facts& facts) {
  std::vector<Finding> findings =
      FindFreedInputs(facts, true, "page-locked memory",
                      "keep the memory, and its registration, as long as the graph is launched");
  Append(FindReturned(facts), &findings);
  Append(FindReusedStaging(facts), &findings);
  return findings;
}

// static-address-changed: an input that the program has made anew elsewhere, while the graph goes
// on with the old address.
std::vector<Finding> FindStaticAddressesChanged(const Facts& facts) {
  const Ran& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    finding->severity = Severity::kNote;
    for (const auto& [input, now, in_pool] : facts.stale_inputs()[graph.index()]) {
      if (!now.valid()) continue;
      if (SurelyTouches(facts, graph, input.block)) finding->severity = Severity::kError;
      if (!AddInput(trace, input, finding)) continue;
      AddEvidence(
          finding,
          Say(trace,
              "{} touches {}, which was freed {}; {} was made in its place, at another "
              "address",
              input.node, input.block, facts.places().Of(trace[input.block].free_requested), now),
          trace[now].stack, {input.node}, {input.block, now});
    }
    if (finding->blocks.empty()) return;
    finding->message = Say(trace,
                           "{} was launched with the old address of {}, which the program has "
                           "freed and made anew elsewhere",
                           graph, BlocksText(*finding));
    finding->advice =
        "copy new data into the memory that was captured, or capture the graph (or set the "
        "node's parameters) again";
  });
}

// static-input-pinned: memory that is kept for a graph that is never launched.
std::vector<Finding> FindStaticInputsPinned(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (trace.launches.empty() || !KnowsWhatWasFreed(trace)) return {};
  const Fact<std::vector<bool>> needed{[&] { return Needed(facts); }};
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<GraphInput>& inputs = facts.inputs()[graph.index()];
    const bool launched = !facts.launches()[graph.index()].empty();
    if (inputs.empty() || launched || !KeptReady(facts, graph)) return;
    for (const GraphInput& input : inputs) {
      const Block& block = trace[input.block];
      if (needed()[input.block.index()] || facts.lives()[input.block].root.valid()) continue;
      if (block.free_requested < trace.launches.back().seq) continue;
      if (!SurelyTouches(facts, graph, input.block)) continue;
      if (!AddInput(trace, input, finding)) continue;
      AddEvidence(finding,
                  Say(trace, "{}, and of all graphs only this one touches it, at {}",
                      AllocatedThere(facts, input.block).text, input.node),
                  block.stack, {input.node}, {input.block});
    }
    if (finding->blocks.empty()) return;
    finding->message = Say(trace, "{} {} kept for {}, which is instantiated and never launched",
                           BlocksText(*finding), Is(finding->blocks.size()), graph);
    finding->advice = "don't capture what is never launched, or let its graphs share their inputs";
  });
}

// pageable-host-copy: captured copies of memory of the host that isn't page-locked: each replay
// finds what is at the address by then.
std::vector<Finding> FindPageableHostCopies(const Facts& facts) {
  std::map<GraphId, HostCopies> by_graph;
  for (const HostCopy& copy : facts.host_copies()) {
    const GraphId graph = facts.RootOf(copy.node);
    const bool lasts = copy.end.kind == HostMemoryKind::kProgram;
    if (!lasts && !facts.never_run()[graph.index()]) by_graph[graph].push_back(&copy);
  }
  std::vector<Finding> findings;
  for (const auto& [graph, copies] : by_graph)
    findings.push_back(JudgeCopies(facts.trace, graph, copies));
  return findings;
}

}  // namespace graphkit
