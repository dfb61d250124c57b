// repeated-tiny-allocation: the same few bytes allocated again and again in one capture.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

constexpr Bytes kTiny = 512;             // what any allocator takes for the smallest request
constexpr size_t kManyAllocations = 16;  // allocations alike, of one graph

std::string PlaceOfStack(const Trace& trace, StackId stack) {
  const CallSite site = CallSiteOf(trace, stack);
  const std::optional<uint32_t> at = site.own ? site.own : site.inner;
  if (!at) return "";
  const std::string place = PlaceOfFrame(trace, *at);
  return " in " + std::string(trace[trace.stack_frames[*at].function]) +
         (place.empty() ? "" : " (" + place + ")");
}

}  // namespace

// One finding a graph: each size from each place that comes often.
std::vector<Finding> FindRepeatedTinyAllocations(const Facts& facts) {
  const Trace& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    std::map<std::tuple<StackId, Bytes, StreamId>, std::vector<BlockId>> alike;
    for (const BlockId id : facts.blocks()[graph.index()]) {
      const Block& block = trace[id];
      if (block.size != 0 && block.size <= kTiny && block.graph.valid()) {
        alike[{block.stack, block.size, block.stream}].push_back(id);
      }
    }
    for (const auto& [key, blocks] : alike) {
      if (blocks.size() < kManyAllocations) continue;
      finding->blocks.insert(finding->blocks.end(), blocks.begin(), blocks.end());
      if (finding->evidence.size() == kShownEvidence) continue;
      finding->evidence.push_back({.text = FormatBytes(std::get<Bytes>(key)) + ", " +
                                           std::to_string(blocks.size()) + " times" +
                                           PlaceOfStack(trace, std::get<StackId>(key)),
                                   .blocks = blocks,
                                   .stack = std::get<StackId>(key)});
    }
    if (finding->blocks.empty()) return;
    finding->bytes = kTiny * finding->blocks.size();
    finding->message = NameOf(trace, graph) + " makes " +
                       Count(finding->blocks.size(), "tiny block") + " that are alike";
    finding->advice = "make one before the capture and use it again: each costs host time";
  });
}

}  // namespace graphkit
