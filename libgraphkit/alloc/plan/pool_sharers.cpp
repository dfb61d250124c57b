#include "libgraphkit/alloc/plan/pool_sharers.h"

#include <algorithm>
#include <map>
#include <set>

namespace graphkit {
namespace {

struct CaptureSpan {
  GraphId graph;
  Seq begin = kNever;
  Seq end = 0;
  Seq gone = kNever;
  std::set<PoolId> pools = {};  // private ones
};

// Of the graphs with blocks, in capture order.
std::vector<CaptureSpan> FindSpans(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<Seq> destroyed = FindDestroyed(trace, facts.roots());
  std::vector<CaptureSpan> spans;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (facts.blocks()[i].empty()) continue;
    CaptureSpan span{.graph = GraphId(i), .gone = destroyed[i]};
    for (const BlockId id : facts.blocks()[i]) {
      const Block& block = trace[id];
      const bool freed = facts.lives()[id].freed;
      span.begin = std::min(span.begin, block.allocated);
      span.end = std::max(span.end, freed ? block.free_requested : block.allocated);
      span.gone = std::max(span.gone, block.free_requested);
      const bool shareable = block.pool && trace[block.pool].kind == PoolKind::kPrivate;
      if (shareable) span.pools.insert(block.pool);
    }
    spans.push_back(std::move(span));
  }
  std::ranges::stable_sort(spans, {}, &CaptureSpan::begin);
  return spans;
}

}  // namespace

std::vector<PoolSharers> FindPoolSharers(const Facts& facts) {
  struct Last {
    size_t sharers = 0;
    Seq end = 0;
  };
  std::vector<PoolSharers> sharers;
  std::map<PoolId, Last> last_in;
  for (const CaptureSpan& span : FindSpans(facts)) {
    size_t place = sharers.size();
    for (const PoolId pool : span.pools) {
      const auto last = last_in.find(pool);
      if (last == last_in.end() || last->second.end > span.begin) continue;
      const size_t before = last->second.sharers;
      if (sharers[before].gone > span.begin) place = std::min(place, before);
    }
    if (place == sharers.size()) sharers.push_back({.graphs = {}, .begin = span.begin, .gone = 0});
    sharers[place].graphs.push_back(span.graph);
    sharers[place].gone = std::max(sharers[place].gone, span.gone);
    for (const PoolId pool : span.pools) last_in[pool] = {place, span.end};
  }
  return sharers;
}

}  // namespace graphkit
