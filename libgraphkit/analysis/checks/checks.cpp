#include "libgraphkit/analysis/checks/checks.h"

#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/edit_distance.h"

namespace graphkit {
namespace {

constexpr Check kChecks[] = {
    {"block-leak", Severity::kWarning, Harm::kLeak, "memory that was never freed", FindBlockLeaks,
     true},
    {"exec-leak", Severity::kWarning, Harm::kLeak,
     "instantiated graphs that were never destroyed or are kept unused", FindExecLeaks, true},
    {"graph-leak", Severity::kWarning, Harm::kLeak, "graphs that were never destroyed",
     FindGraphLeaks},
    {"graph-allocation-leak", Severity::kError, Harm::kLeak,
     "memory that a graph allocates and never frees", FindGraphAllocationLeaks, true},
    {"event-stream-leak", Severity::kNote, Harm::kLeak,
     "streams and events that were never destroyed", FindEventStreamLeaks},
    {"deferred-record-stream", Severity::kWarning, Harm::kMemory,
     "blocks that crossed streams and came back later than they were freed",
     FindDeferredRecordStreams, true},
    {"reuse-opportunity", Severity::kNote, Harm::kMemory,
     "blocks that could share memory with earlier ones", FindReuseOpportunities},
    {"late-free", Severity::kNote, Harm::kMemory, "frees after the last use that raise the peak",
     FindLateFrees},
    {"reusable-never-reclaimed", Severity::kNote, Harm::kMemory,
     "deferred blocks that only other streams could have reused", FindReusableNeverReclaimed},
    {"missed-by-stream", Severity::kNote, Harm::kMemory,
     "reuse missed because the memory was another stream's", FindMissedByStream},
    {"missed-by-pool", Severity::kNote, Harm::kMemory,
     "reuse missed because the memory was another pool's", FindMissedByPool},
    {"unsafe-reuse", Severity::kError, Harm::kResults,
     "memory that is used again without proof that it is free", FindUnsafeReuse, true, true},
    {"missing-order", Severity::kError, Harm::kResults,
     "nodes that touch the same memory and that nothing orders", FindMissingOrder, true, true},
    {"free-before-use", Severity::kError, Harm::kResults,
     "memory-free nodes that aren't ordered after all users", FindFreeBeforeUse, true, true},
    {"programmatic-only-order", Severity::kError, Harm::kResults,
     "order that rests on a programmatic edge whose consumer need not wait",
     FindProgrammaticOnlyOrder, true, true, FindUnprovedReuse},
    {"programmatic-no-gain", Severity::kNote, Harm::kStyle,
     "programmatic edges whose producer never lets the consumer start early",
     FindProgrammaticNoGain},
    {"capture-invalidated", Severity::kError, Harm::kResults, "calls that broke a capture",
     FindInvalidatedCaptures},
    {"unjoined-stream", Severity::kError, Harm::kResults,
     "forked streams that never joined their capture", FindUnjoinedStreams},
    {"open-capture", Severity::kError, Harm::kResults, "captures that never ended",
     FindOpenCaptures, true},
    {"unsafe-call-in-capture", Severity::kWarning, Harm::kResults,
     "calls that a capture doesn't allow, and that it survived", FindUnsafeCalls},
    {"lossy-edge-query", Severity::kWarning, Harm::kResults,
     "queries of edges that can't say what edges they are", FindLossyEdgeQueries},
    {"aborted-capture-pool", Severity::kWarning, Harm::kLeak,
     "pools that a failed capture left behind", FindAbortedCapturePools},
    {"frontier-rewind", Severity::kWarning, Harm::kResults,
     "streams that were set back while capturing", FindFrontierRewinds, true, true},
    {"cross-branch-free", Severity::kError, Harm::kResults,
     "memory freed in a conditional's body that isn't the one it came from", FindCrossBranchFrees,
     true},
    {"dead-input", Severity::kError, Harm::kResults, "launches of graphs whose inputs were freed",
     FindDeadInputs, true},
    {"static-address-changed", Severity::kError, Harm::kResults,
     "inputs made anew elsewhere while the graph keeps the old address",
     FindStaticAddressesChanged},
    {"replay-order", Severity::kWarning, Harm::kResults,
     "graphs of one pool launched in another order than captured", FindReplayOrders, true},
    {"pool-across-streams", Severity::kWarning, Harm::kMemory,
     "pools whose graphs were captured on many streams", FindPoolsAcrossStreams},
    {"static-input-pinned", Severity::kNote, Harm::kMemory,
     "memory kept for graphs that are never launched", FindStaticInputsPinned},
    {"redundant-edge", Severity::kNote, Harm::kStyle, "edges that others imply",
     FindRedundantEdges},
    {"empty-node", Severity::kNote, Harm::kStyle, "empty nodes that save no edges", FindEmptyNodes},
    {"serialized-branches", Severity::kNote, Harm::kStyle,
     "independent work captured on one stream", FindSerializedBranches},
    {"nccl-multi-segment", Severity::kError, Harm::kResults,
     "captured NCCL buffers that lie in several driver allocations", FindNcclMultiSegments, true},
    {"collective-order", Severity::kError, Harm::kResults,
     "collectives that the ranks of a communicator don't run in one order", FindCollectiveOrders,
     true, true},
    {"collective-size", Severity::kError, Harm::kResults,
     "collectives whose count, type or root differs between ranks", FindCollectiveSizes, true},
    {"comm-destroyed", Severity::kError, Harm::kResults,
     "communicators that were destroyed before their graphs", FindDestroyedComms, true},
    {"concurrent-collectives", Severity::kError, Harm::kResults,
     "collectives that run at once where NCCL was told not to order them",
     FindConcurrentCollectives, true, true},
    {"comm-buffer-idle", Severity::kNote, Harm::kMemory,
     "communication buffers that computation could borrow", FindIdleCommBuffers},
    {"send-buffer-reuse", Severity::kError, Harm::kResults,
     "memory written by a graph while another one's send may still read it", FindReusedSendBuffers,
     true},
    {"shared-workspace", Severity::kError, Harm::kResults,
     "memory that graphs launched without order both write", FindSharedWorkspaces, true},
    {"collection-in-capture", Severity::kWarning, Harm::kStyle,
     "garbage collections that paused a capture", FindCollectionsInCaptures, true},
    {"repeated-tiny-allocation", Severity::kNote, Harm::kStyle,
     "the same few bytes allocated again and again in a capture", FindRepeatedTinyAllocations},
    {"slow-capture", Severity::kNote, Harm::kStyle, "captures that took the host long",
     FindSlowCaptures},
    {"pageable-host-copy", Severity::kWarning, Harm::kResults,
     "captured copies of memory of the host that isn't page-locked", FindPageableHostCopies, true},
    {"stale-host-memory", Severity::kError, Harm::kResults,
     "launches that copy memory of the host that was given up", FindStaleHostMemory, true},
    {"duplicate-exec", Severity::kNote, Harm::kMemory,
     "execs that differ only in what an update can set", FindDuplicateExecs},
    {"exec-update-failed", Severity::kError, Harm::kResults, "updates of execs that CUDA refused",
     FindFailedExecUpdates, true},
    {"update-without-effect", Severity::kWarning, Harm::kResults,
     "updates that changed nothing, or that no launch ran with", FindUpdatesWithoutEffect, true},
    {"recapture-mismatch", Severity::kError, Harm::kResults,
     "captures over a graph's own nodes that captured something else", FindRecaptureMismatches,
     true},
    {"escaped-work", Severity::kError, Harm::kResults,
     "work submitted while a graph was captured that runs in none of its launches", FindEscapedWork,
     true},
    {"eager-use-of-graph-memory", Severity::kError, Harm::kResults,
     "memory that launches of a graph write, used outside of graphs", FindEagerUsesOfGraphMemory,
     true},
    {"pool-clobbered-workspace", Severity::kError, Harm::kResults,
     "memory kept from a capture, used outside of graphs and written over by launches",
     FindPoolClobberedWorkspaces, true},
    {"launched-once", Severity::kWarning, Harm::kStyle,
     "graphs alike that are instantiated for each launch", FindLaunchedOnce},
};

}  // namespace

std::span<const Check> AllChecks() { return kChecks; }

const Check* FindCheck(std::string_view id) {
  const auto* found = std::ranges::find(kChecks, id, &Check::id);
  return found == std::end(kChecks) ? nullptr : found;
}

const Check* NearestCheck(std::string_view id) {
  constexpr size_t kStarts = 0, kHolds = 1;
  const auto distance = [id](const Check& check) {
    const size_t place = id.empty() ? std::string_view::npos : check.id.find(id);
    if (place != std::string_view::npos) return place == 0 ? kStarts : kHolds;
    return kHolds + EditDistance(check.id, id);
  };
  const Check* nearest = std::ranges::min_element(kChecks, {}, distance);
  return distance(*nearest) <= kHolds + std::max<size_t>(1, id.size() / 3) ? nearest : nullptr;
}

std::vector<Finding> RunCheck(const Check& check, const Facts& facts) {
  std::vector<Finding> findings = check.find(facts);
  for (Finding& finding : findings) {
    finding.check = check.id;
    finding.harm = check.harm;
    if (!check.grades) finding.severity = check.severity;
  }
  return findings;
}

}  // namespace graphkit
