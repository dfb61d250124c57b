// collection-in-capture: garbage collections that paused a capture, and what they freed inside.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/overlaps.h"

namespace graphkit {
namespace {

constexpr std::string_view kRange = "garbage collection";  // as the hook for Python names them

// The blocks whose free was requested inside [begin, end), by the place of their free.
std::vector<BlockId> FreedIn(const Trace& trace, const std::vector<uint32_t>& by_free, Seq begin,
                             Seq end) {
  const auto free_of = [&](uint32_t block) { return trace.blocks[block].free_requested; };
  const auto first = std::ranges::lower_bound(by_free, begin, {}, free_of);
  return {first, std::ranges::lower_bound(by_free, end, {}, free_of)};
}

struct Pauses {
  uint64_t count = 0;
  Nanoseconds time = 0;
};

Finding Describe(const Facts& facts, GraphId graph, const Pauses& pauses, Finding finding) {
  const Trace& trace = facts.trace;
  finding.graph = graph;
  // A pause costs time once; what is freed inside differs from run to run, and can break a capture.
  finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
  finding.message =
      Count(pauses.count, "garbage collection") + " paused the capture of " + NameOf(trace, graph);
  if (pauses.time > 0) finding.message += " for " + FormatNanoseconds(pauses.time);
  if (!finding.blocks.empty()) {
    finding.message += " and freed " + FormatBytes(finding.bytes) + " in " +
                       ListOf(finding.blocks) + " inside of it";
  }
  for (const BlockId block : finding.blocks) {
    if (finding.evidence.size() == kShownEvidence) break;
    if (trace[block].stack.valid()) finding.evidence.push_back(AllocatedThere(facts, block));
  }
  finding.advice =
      "collect before the capture and switch collection off in it: gc.collect(); gc.disable()";
  return finding;
}

}  // namespace

std::vector<Finding> FindCollectionsInCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
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
    Finding finding;
    Pauses pauses;
    for (const size_t own = at->a; at != overlaps.end() && at->a == own; ++at) {
      const Seq begin = std::max(collections[at->b].begin, capture.begin);
      const Seq end = std::min(collections[at->b].end, capture.end);
      ++pauses.count;
      const Nanoseconds from = TimeAt(trace, begin);
      const Nanoseconds to = TimeAt(trace, end);
      if (from != 0 && to > from) pauses.time += to - from;
      for (const BlockId block : FreedIn(trace, by_free, begin, end)) {
        AddBlock(trace, block, &finding);
      }
    }
    findings.push_back(Describe(facts, capture.graph, pauses, std::move(finding)));
  }
  return findings;
}

}  // namespace graphkit
