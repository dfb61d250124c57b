#include "libgraphkit/analysis/checks/find.h"

#include <memory>

namespace graphkit {
namespace {

// A stream as an argument: by the name that the program gave it, or CUDA has for it.
std::string Argument(const Ran& trace, StreamId stream, bool python) {
  const std::string_view name = trace[trace[stream].name];
  const StreamKind kind = trace[stream].kind;
  if (!name.empty()) return std::string(name);
  if (python || kind == StreamKind::kCreated) return NameOf(trace, stream);
  return kind == StreamKind::kLegacyDefault ? "cudaStreamLegacy" : "cudaStreamPerThread";
}

// True if the program's line is Python's and handles streams as PyTorch and CuPy do: a library that
// it calls may handle its own.
bool HandlesStreams(const Ran& trace, StackId stack) {
  if (!IsPythonFile(LineOfStack(trace, stack).file)) return false;
  bool native = false;
  for (const StackFrame& frame : StackFrames(trace, stack)) {
    const std::string_view file = trace[frame.file];
    if (file.find("/torch/") != file.npos || file.find("/cupy") != file.npos) return true;
    if (IsPythonFile(file)) break;
    native = true;
  }
  return !native || FindSetting(trace.process, "PYTORCH_VERSION", "").has_value();
}

}  // namespace

std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge) {
  std::vector<std::unique_ptr<Finding>> by_graph(facts.trace.graphs.size());
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    Finding finding{.graph = graph};
    judge(graph, &finding);
    if (finding.message.empty()) return;
    by_graph[graph.index()] = std::make_unique<Finding>(std::move(finding));
  });
  std::vector<Finding> findings;
  for (const std::unique_ptr<Finding>& finding : by_graph) {
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}

std::map<PoolId, std::vector<GraphId>> GraphsByPool(const Facts& facts) {
  std::map<PoolId, std::vector<GraphId>> by_pool;
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    PoolId last;
    for (const BlockId block : facts.blocks()[graph]) {
      const PoolId pool = facts.trace[block].pool;
      if (pool == last || KindOf(facts.trace, pool) != PoolKind::kPrivate) continue;
      last = pool;
      std::vector<GraphId>& graphs = by_pool[pool];
      if (graphs.empty() || graphs.back() != GraphId(graph)) graphs.emplace_back(graph);
    }
  }
  return by_pool;
}

void AddBlock(const Ran& trace, BlockId block, Finding* finding) {
  finding->blocks.push_back(block);
  finding->bytes += RoundedSize(trace[block]);
}

bool AddBlockOnce(const Ran& trace, BlockId block, Finding* finding) {
  if (!AddOnce(block, &finding->blocks)) return false;
  finding->bytes += RoundedSize(trace[block]);
  return true;
}

std::string BlocksText(const Finding& finding) {
  return ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")";
}

void AddEvidence(Finding* finding, std::string text, StackId stack, std::vector<NodeId> nodes,
                 std::vector<BlockId> blocks) {
  finding->evidence.push_back({.text = std::move(text),
                               .nodes = std::move(nodes),
                               .blocks = std::move(blocks),
                               .stack = stack});
}

bool WorthANote(Bytes bytes, const Usage& usage) {
  constexpr Bytes kLeast = 2048;
  return bytes >= kLeast && bytes >= usage.peak_live / 100;
}

bool ReturnsWork(const Facts& facts, NodeId node) {
  const Ran& trace = facts.trace;
  if (!facts.communication().Has(trace[node].kernel)) return false;
  bool called = false;
  for (const StackFrame& frame : StackFrames(trace, trace[node].stack)) {
    const std::string_view file = trace[frame.file];
    const bool own = !IsLibraryFrame(trace[frame.function], file);
    if (own || (called && !file.ends_with("/torch/distributed/distributed_c10d.py") &&
                !file.ends_with("/torch/distributed/c10d_logger.py")))
      return own && called;
    called = called || file.ends_with("/torch/distributed/distributed_c10d.py");
  }
  return false;
}

std::string OrderByEvent(const Ran& trace, const EventPlace& first, const EventPlace& then,
                         StackId stack) {
  const bool python = HandlesStreams(trace, stack);
  return Say(trace,
             python ? "after {}: event.record({}); before {}: {}.wait_event(event)"
                    : "after {}: cudaEventRecord(event, {}); before {}: "
                      "cudaStreamWaitEvent({}, event)",
             first.what, Argument(trace, first.stream, python), then.what,
             Argument(trace, then.stream, python));
}

Evidence CapturedThere(const Ran& trace, NodeId node) {
  return {.text = CapturedOn(trace, node), .nodes = {node}, .stack = trace[node].stack};
}

Evidence AllocatedThere(const Facts& facts, BlockId block) {
  const Block& at = facts.trace[block];
  return {.text = Say(facts.trace, "{} was allocated {}", block, facts.places().Of(at.allocated)),
          .blocks = {block},
          .stack = at.stack};
}

Evidence LaunchedThere(const Ran& trace, uint32_t launch, GraphId graph, std::string_view does) {
  return {.text = LaunchText(trace, launch, graph) + std::string(does),
          .stack = trace.launches[launch].stack};
}

std::vector<Finding> OneForEachCause(std::vector<Finding> findings) {
  std::map<std::string, std::vector<size_t>> alike;
  for (const auto& [i, finding] : Enumerate(findings)) {
    if (finding.severity == Severity::kNote && finding.graph.valid())
      alike[finding.advice].push_back(i);
  }
  std::vector<bool> told(findings.size());
  for (const auto& [advice, all] : alike) {
    const auto cost = [&](size_t i) {
      return std::pair(findings[i].bytes, findings[i].nodes.size());
    };
    const size_t most = *std::ranges::max_element(all, {}, cost);
    std::set<GraphId> more;
    for (const size_t i : all) {
      told[i] = findings[i].graph != findings[most].graph;
      if (told[i]) more.insert(findings[i].graph);
    }
    if (!more.empty())
      findings[most].message += "; the same of " + Counted(more.size(), "more graph");
  }
  std::vector<Finding> kept;
  for (size_t i = 0; i < findings.size(); ++i)
    if (!told[i]) kept.push_back(std::move(findings[i]));
  return kept;
}

void KeepOneNote(std::string_view what, std::vector<Finding>* findings) {
  const auto worse = [](const Finding& finding) { return finding.severity != Severity::kNote; };
  const auto notes = std::stable_partition(findings->begin(), findings->end(), worse);
  if (findings->end() - notes < 2) return;
  const auto fewer = [](const Finding& a, const Finding& b) { return a.bytes < b.bytes; };
  std::iter_swap(notes, std::max_element(notes, findings->end(), fewer));
  notes->message += "; the same of " + Counted(static_cast<size_t>(findings->end() - notes - 1),
                                               "more " + std::string(what));
  for (auto further = notes + 1; further != findings->end(); ++further)
    notes->bytes += further->bytes;
  findings->erase(notes + 1, findings->end());
}

}  // namespace graphkit
