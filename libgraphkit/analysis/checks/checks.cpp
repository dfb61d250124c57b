#include "libgraphkit/analysis/checks/checks.h"

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/torch_options.h"
#include "libgraphkit/edit_distance.h"

namespace graphkit {

// Each in the file of its check.
using FindFunction = std::vector<Finding>(const Facts& facts);
FindFunction FindBlockLeaks, FindExecLeaks, FindGraphLeaks, FindGraphAllocationLeaks,
    FindEventStreamLeaks, FindDeferredRecordStreams, FindReuseOpportunities, FindLateFrees,
    FindUnsafeReuse, FindMissingOrder, FindBorderOrder, FindFreeBeforeUse,
    FindProgrammaticOnlyOrder, FindInvalidatedCaptures, FindUnjoinedStreams, FindOpenCaptures,
    FindUnsafeCalls, FindLossyEdgeQueries, FindAbortedCapturePools, FindFrontierRewinds,
    FindCrossBranchFrees, FindDeadInputs, FindStaticAddressesChanged, FindReplayOrders,
    FindPoolsAcrossStreams, FindStaticInputsPinned, FindRedundantEdges, FindEmptyNodes,
    FindSerializedBranches, FindNcclMultiSegments, FindCollectiveOrders, FindCollectiveSizes,
    FindDestroyedComms, FindConcurrentCollectives, FindIdleCommBuffers, FindReusedSendBuffers,
    FindSharedWorkspaces, FindCollectionsInCaptures, FindSlowCaptures, FindPageableHostCopies,
    FindStaleHostMemory, FindDuplicateExecs, FindFailedExecUpdates, FindUpdatesWithoutEffect,
    FindRecaptureMismatches, FindEscapedWork, FindEagerUsesOfGraphMemory,
    FindPoolClobberedWorkspaces, FindLaunchedOnce, FindFrozenArguments, FindFrozenGrids,
    FindCapturesUnlikeWarmups, FindStateNotReset, FindFailedInstantiations, FindRecordedAgain,
    FindStillUnmapped, FindReadsAfterWake;
std::vector<Finding> FindUnprovedReuse(const Facts& torch, const Facts& completion);

namespace {

constexpr std::string_view kAllocConf = "PYTORCH_ALLOC_CONF";

// clang-format off
constexpr SettingRule kSettingRules[] = {
    {"deferred-record-stream", kAllocConf, "graph_capture_record_stream_reuse", "True",
     "PyTorch takes such a block back at the next malloc of its own stream, if that stream has joined its uses by then; what stays deferred isn't joined, or no malloc follows",
     "set graph_capture_record_stream_reuse:True there, and PyTorch reuses such blocks inside the capture where the graph orders their uses",
     "pytorch/pytorch#158352 and #162186"},
    {"deferred-record-stream", "TORCH_NCCL_AVOID_RECORD_STREAMS", "", "0",
     "collectives record their buffers on NCCL's stream, so that their frees are deferred",
     "", "PyTorch, ProcessGroupNCCL"},
    {"nccl-multi-segment", kAllocConf, "expandable_segments", "True",
     "a segment grows by driver allocations of its own, so that a block may span several",
     "", "PyTorch, CUDA memory management"},
    {"nccl-multi-segment", "NCCL_GRAPH_REGISTER", "", "0", "",
     "NCCL registers the buffers of captured kernels unless this is 0",
     "NCCL, environment variables"},
    {"serialized-branches", "CUDA_DEVICE_MAX_CONNECTIONS", "", "1",
     "all streams reach the device through one queue, in the order of the calls; programs that set it count on that order",
     "", "CUDA C++ Programming Guide, environment variables"},
    {"shared-workspace", "CUBLAS_WORKSPACE_CONFIG", "", "",
     "the size and number of cuBLAS's buffers; handles that share a stream's workspace share them",
     "", "cuBLAS, results reproducibility"},
    {"capture-invalidated", "PYTORCH_NO_CUDA_MEMORY_CACHING", "", "1",
     "every allocation is a call of the driver, and captures refuse cudaMalloc and cudaFree",
     "", "PyTorch, CUDA memory management"},
    {"capture-invalidated", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "", "1",
     "NCCL's watchdog thread asks for events while a capture runs; with cudaStreamCaptureModeGlobal that ends the capture",
     "", "PyTorch, CUDA semantics: usage with DistributedDataParallel"},
    {"unsafe-call-in-capture", "PYTORCH_NO_CUDA_MEMORY_CACHING", "", "1",
     "every allocation is a call of the driver, and captures refuse cudaMalloc and cudaFree",
     "", "PyTorch, CUDA memory management"},
};
// clang-format on

bool IsPyTorch(const Process& process) {
  return std::ranges::any_of(process.environment, [](const std::string& entry) {
    return entry.starts_with("PYTORCH_") || entry.starts_with("TORCH_");
  });
}

std::string Explain(const Process& process, const SettingRule& rule) {
  const std::optional<std::string> value = FindSetting(process, rule.variable, rule.option);
  const std::string option = std::string(rule.option) + (rule.option.empty() ? "" : ":");
  const bool meant = value && (rule.value.empty() || *value == rule.value);
  const std::string_view sentence = meant ? rule.when : rule.when_not;
  if (sentence.empty()) return {};
  const bool of_torch = rule.variable == kAllocConf;
  if (of_torch && SetTorchOption(process, rule.option).empty()) return {};  // it has no such option
  std::string setting(of_torch ? AllocConfName(process) : rule.variable);
  if (value) {
    setting += "=" + option + *value;
  } else {
    setting += rule.option.empty() ? " isn't set" : " has no " + std::string(rule.option);
  }
  return setting + ": " + std::string(sentence) + " (" + std::string(rule.source) + ")";
}

// clang-format off
struct Table {
  using enum Severity;
  using enum Harm;
  static constexpr Check kChecks[] = {
    {.id = "block-leak", .severity = kWarning, .harm = kLeak, .grades = true,
     .what = "memory that was never freed", .find = FindBlockLeaks},
    {.id = "exec-leak", .severity = kWarning, .harm = kLeak, .grades = true,
     .what = "instantiated graphs that were never destroyed or are kept unused",
     .find = FindExecLeaks},
    {.id = "graph-leak", .severity = kWarning, .harm = kLeak,
     .what = "graphs that were never destroyed", .find = FindGraphLeaks},
    {.id = "graph-allocation-leak", .severity = kError, .harm = kLeak, .grades = true,
     .what = "memory that a graph allocates and never frees", .find = FindGraphAllocationLeaks},
    {.id = "event-stream-leak", .severity = kNote, .harm = kLeak,
     .what = "streams and events that were never destroyed", .find = FindEventStreamLeaks},
    {.id = "deferred-record-stream", .severity = kWarning, .harm = kMemory, .grades = true,
     .what = "blocks that crossed streams and came back later than they were freed",
     .find = FindDeferredRecordStreams},
    {.id = "reuse-opportunity", .severity = kNote, .harm = kMemory,
     .what = "blocks that could use memory of earlier ones, and the cause that they don't",
     .find = FindReuseOpportunities},
    {.id = "late-free", .severity = kNote, .harm = kMemory,
     .what = "frees after the last use that raise the peak", .find = FindLateFrees},
    {.id = "unsafe-reuse", .severity = kError, .harm = kResults, .grades = true, .proves = true,
     .what = "memory that is used again without proof that it is free", .find = FindUnsafeReuse},
    {.id = "missing-order", .severity = kError, .harm = kResults, .grades = true, .proves = true,
     .what = "nodes that touch the same memory and that nothing orders", .find = FindMissingOrder},
    {.id = "border-order", .severity = kError, .harm = kResults, .grades = true,
     .what = "launches and other work that touch the same memory and that nothing orders",
     .find = FindBorderOrder},
    {.id = "free-before-use", .severity = kError, .harm = kResults, .grades = true, .proves = true,
     .what = "memory-free nodes that aren't ordered after all users", .find = FindFreeBeforeUse},
    {.id = "programmatic-only-order", .severity = kError, .harm = kResults, .grades = true,
     .proves = true, .what = "order that rests on a programmatic edge whose consumer need not wait",
     .find = FindProgrammaticOnlyOrder, .find_unproved = FindUnprovedReuse},
    {.id = "capture-invalidated", .severity = kError, .harm = kResults,
     .what = "calls that broke a capture", .find = FindInvalidatedCaptures},
    {.id = "unjoined-stream", .severity = kError, .harm = kResults,
     .what = "forked streams that never joined their capture", .find = FindUnjoinedStreams},
    {.id = "open-capture", .severity = kError, .harm = kResults, .grades = true,
     .what = "captures that never ended", .find = FindOpenCaptures},
    {.id = "unsafe-call-in-capture", .severity = kWarning, .harm = kResults,
     .what = "calls that failed in a capture that went on", .find = FindUnsafeCalls},
    {.id = "lossy-edge-query", .severity = kWarning, .harm = kResults,
     .what = "queries of edges that can't say what edges they are", .find = FindLossyEdgeQueries},
    {.id = "aborted-capture-pool", .severity = kWarning, .harm = kLeak,
     .what = "pools that a failed capture left behind", .find = FindAbortedCapturePools},
    {.id = "frontier-rewind", .severity = kWarning, .harm = kResults, .grades = true,
     .proves = true, .what = "streams that were set back while capturing",
     .find = FindFrontierRewinds},
    {.id = "cross-branch-free", .severity = kError, .harm = kResults, .grades = true,
     .what = "memory freed in a conditional's body that isn't the one it came from",
     .find = FindCrossBranchFrees},
    {.id = "dead-input", .severity = kError, .harm = kResults, .grades = true,
     .what = "launches of graphs whose inputs were freed", .find = FindDeadInputs},
    {.id = "static-address-changed", .severity = kError, .harm = kResults, .grades = true,
     .what = "inputs reallocated; the graph still uses the old address",
     .find = FindStaticAddressesChanged},
    {.id = "still-unmapped", .severity = kError, .harm = kResults, .grades = true,
     .what = "launches over memory that was unmapped and isn't mapped again",
     .find = FindStillUnmapped},
    {.id = "read-after-wake", .severity = kError, .harm = kResults, .grades = true,
     .what = "launches that read new memory, mapped where other memory was, before it is written",
     .find = FindReadsAfterWake},
    {.id = "replay-order", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "graphs of one pool launched in another order than captured",
     .find = FindReplayOrders},
    {.id = "pool-across-streams", .severity = kWarning, .harm = kMemory,
     .what = "pools whose graphs were captured on many streams", .find = FindPoolsAcrossStreams},
    {.id = "static-input-pinned", .severity = kNote, .harm = kMemory,
     .what = "memory kept for graphs that are never launched", .find = FindStaticInputsPinned},
    {.id = "redundant-edge", .severity = kNote, .harm = kStyle,
     .what = "edges that others imply", .find = FindRedundantEdges},
    {.id = "empty-node", .severity = kNote, .harm = kStyle,
     .what = "empty nodes that save no edges", .find = FindEmptyNodes},
    {.id = "serialized-branches", .severity = kNote, .harm = kStyle,
     .what = "independent work captured on one stream", .find = FindSerializedBranches},
    {.id = "nccl-multi-segment", .severity = kError, .harm = kResults, .grades = true,
     .what = "captured NCCL buffers that lie in several driver allocations",
     .find = FindNcclMultiSegments},
    {.id = "collective-order", .severity = kError, .harm = kResults, .grades = true, .proves = true,
     .what = "collectives that the ranks of a communicator don't run in one order",
     .find = FindCollectiveOrders},
    {.id = "collective-size", .severity = kError, .harm = kResults, .grades = true,
     .what = "collectives whose count, type or root differs between ranks",
     .find = FindCollectiveSizes},
    {.id = "comm-destroyed", .severity = kError, .harm = kResults, .grades = true,
     .what = "communicators that were destroyed before their graphs", .find = FindDestroyedComms},
    {.id = "concurrent-collectives", .severity = kError, .harm = kResults, .grades = true,
     .proves = true, .what = "collectives that run at once where NCCL was told not to order them",
     .find = FindConcurrentCollectives},
    {.id = "comm-buffer-idle", .severity = kNote, .harm = kMemory,
     .what = "communication buffers that computation could borrow", .find = FindIdleCommBuffers},
    {.id = "send-buffer-reuse", .severity = kError, .harm = kResults, .grades = true,
     .what = "memory written by a graph while another one's send may still read it",
     .find = FindReusedSendBuffers},
    {.id = "shared-workspace", .severity = kError, .harm = kResults, .grades = true,
     .what = "memory that graphs launched without order both write", .find = FindSharedWorkspaces},
    {.id = "collection-in-capture", .severity = kWarning, .harm = kStyle, .grades = true,
     .what = "garbage collections that paused a capture", .find = FindCollectionsInCaptures},
    {.id = "slow-capture", .severity = kNote, .harm = kStyle,
     .what = "captures that took the host long", .find = FindSlowCaptures},
    {.id = "pageable-host-copy", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "captured copies of memory of the host that isn't page-locked",
     .find = FindPageableHostCopies},
    {.id = "stale-host-memory", .severity = kError, .harm = kResults, .grades = true,
     .what = "launches that copy host memory already freed",
     .find = FindStaleHostMemory},
    {.id = "duplicate-exec", .severity = kNote, .harm = kMemory,
     .what = "execs that differ only in what an update can set", .find = FindDuplicateExecs},
    {.id = "exec-update-failed", .severity = kError, .harm = kResults, .grades = true,
     .what = "updates of execs that CUDA refused", .find = FindFailedExecUpdates},
    {.id = "instantiate-failed", .severity = kError, .harm = kResults, .grades = true,
     .what = "graphs that CUDA refused to instantiate or upload, and the rule that they break",
     .find = FindFailedInstantiations},
    {.id = "update-without-effect", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "updates that changed nothing, or that no launch ran with",
     .find = FindUpdatesWithoutEffect},
    {.id = "recapture-mismatch", .severity = kError, .harm = kResults, .grades = true,
     .what = "captures over a graph's own nodes that captured something else",
     .find = FindRecaptureMismatches},
    {.id = "escaped-work", .severity = kError, .harm = kResults, .grades = true,
     .what = "work submitted while a graph was captured that runs in none of its launches",
     .find = FindEscapedWork},
    {.id = "eager-use-of-graph-memory", .severity = kError, .harm = kResults, .grades = true,
     .what = "memory that launches of a graph write, used outside of graphs",
     .find = FindEagerUsesOfGraphMemory},
    {.id = "pool-clobbered-workspace", .severity = kError, .harm = kResults, .grades = true,
     .what = "memory kept from a capture, used outside of graphs and written over by launches",
     .find = FindPoolClobberedWorkspaces},
    {.id = "launched-once", .severity = kWarning, .harm = kStyle,
     .what = "graphs alike that are instantiated for each launch", .find = FindLaunchedOnce},
    {.id = "recorded-again", .severity = kNote, .harm = kMemory, .grades = true,
     .what = "re-captures that a fixed input buffer would have avoided",
     .find = FindRecordedAgain},
    {.id = "frozen-argument", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "arguments that changed from step to step and that a graph passes once and for all",
     .find = FindFrozenArguments},
    {.id = "frozen-grid", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "grids that changed from step to step and that a graph launches once and for all",
     .find = FindFrozenGrids},
    {.id = "capture-differs-from-warmup", .severity = kWarning, .harm = kResults,
     .what = "kernels that each warm-up launched and the capture didn't, or the reverse",
     .find = FindCapturesUnlikeWarmups},
    {.id = "state-not-reset", .severity = kWarning, .harm = kResults, .grades = true,
     .what = "memory that was set before the first launch only, and that each launch changes",
     .find = FindStateNotReset},
  };
};
// clang-format on
constexpr std::span<const Check> kChecks = Table::kChecks;

// Ids of checks that another one took over, and its id.
constexpr std::pair<std::string_view, std::string_view> kOldChecks[] = {
    {"missed-by-pool", "reuse-opportunity"},
    {"missed-by-stream", "reuse-opportunity"},
    {"reusable-never-reclaimed", "deferred-record-stream"},
};

// Checks that judge each graph for itself, so that one habit of the program is a note for each.
constexpr std::string_view kByGraph[] = {
    "dead-input",          "deferred-record-stream",  "empty-node",     "exec-leak",
    "late-free",           "programmatic-only-order", "redundant-edge", "reuse-opportunity",
    "serialized-branches", "static-input-pinned"};

}  // namespace

std::span<const SettingRule> SettingRules() { return kSettingRules; }

void ExplainBySettings(const Process& process, std::vector<Finding>* findings) {
  if (process.environment.empty()) return;
  for (const SettingRule& rule : kSettingRules) {
    if (rule.variable == kAllocConf && !IsPyTorch(process)) continue;
    const auto finding = std::ranges::find(*findings, rule.check, &Finding::check);
    if (finding == findings->end()) continue;
    std::string text = Explain(process, rule);
    if (!text.empty()) finding->evidence.push_back({.text = std::move(text)});
  }
}

std::span<const Check> AllChecks() { return kChecks; }

const Check* FindCheck(std::string_view id) {
  const auto found = std::ranges::find(kChecks, id, &Check::id);
  return found == kChecks.end() ? nullptr : &*found;
}

const Check* NearestCheck(std::string_view id) {
  for (const auto& [old, now] : kOldChecks) {
    if (old == id) return FindCheck(now);
  }
  constexpr size_t kStarts = 0, kHolds = 1;
  const auto distance = [id](const Check& check) {
    const size_t place = id.empty() ? std::string_view::npos : check.id.find(id);
    if (place != std::string_view::npos) return place == 0 ? kStarts : kHolds;
    return kHolds + EditDistance(check.id, id);
  };
  const Check* nearest = &*std::ranges::min_element(kChecks, {}, distance);
  return distance(*nearest) <= kHolds + std::max<size_t>(1, id.size() / 3) ? nearest : nullptr;
}

std::vector<Finding> RunCheck(const Check& check, const Facts& facts) {
  // Frees that came after a recording was stopped aren't known.
  if (check.harm == Harm::kLeak && facts.trace.completeness.stopped) return {};
  std::vector<Finding> findings = check.find(facts);
  for (Finding& finding : findings) {
    finding.check = check.id;
    finding.harm = check.harm;
    if (!check.grades) finding.severity = check.severity;
  }
  const bool by_graph = std::ranges::find(kByGraph, check.id) != std::end(kByGraph);
  return by_graph ? OneForEachCause(std::move(findings)) : std::move(findings);
}

}  // namespace graphkit
