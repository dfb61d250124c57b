#include "libgraphkit/analysis/launches/coverage.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

// No count of a damaged trace wraps, which would make its share look good.
uint64_t Capped(uint64_t a, uint64_t b) { return a + std::min(b, ~uint64_t{0} - a); }

void Add(const WorkCounts& more, WorkCounts* counts) {
  counts->kernels = Capped(counts->kernels, more.kernels);
  counts->copies = Capped(counts->copies, more.copies);
  counts->copied_bytes = Capped(counts->copied_bytes, more.copied_bytes);
}

// The counts of one piece of work.
WorkCounts CountsOf(const Ran& trace, NodeKind kind, Slice accesses) {
  if (kind == NodeKind::kKernel) return {.kernels = 1};
  if (kind != NodeKind::kMemcpy) return {};
  return {.copies = 1, .copied_bytes = CopiedBytes(trace, accesses)};
}

struct CoverageFinder {
  Coverage Find() {
    for (const Capture& capture : trace.captures)
      found.broken_captures += capture.status == CaptureStatus::kInvalidated;
    // A trace that was cut off may lack its counts, and hold a part of the work.
    const bool part = trace.completeness.truncated && !trace.process.all_work;
    if (trace.eager_counts.empty() && (trace.works.empty() || part)) {
      found.unknown = "work outside of graphs wasn't recorded: record with --scope all";
    } else if (trace.launches.empty()) {
      found.unknown = "no graph was launched";
    }
    CountGraphs();
    CountEager();
    if (trace.eager_counts.empty()) {
      CountRanges();
      CountKernels();
    }
    TakeStreams();
    return std::move(found);
  }

  void CountGraphs() {
    if (trace.launches.empty()) return;
    per_launch.resize(trace.graphs.size());
    std::vector<uint64_t> conditional(trace.graphs.size());
    for (const NodeId id : trace.graph_nodes) {
      const Node& node = trace[id];
      const size_t root = facts.RootOf(id).index();
      Add(CountsOf(trace, node.kind, node.accesses), &per_launch[root]);
      const bool kernel = node.kind == NodeKind::kKernel;
      if (kernel && facts.nesting().InConditional(node.graph)) ++conditional[root];
    }
    for (size_t i = 0; i < trace.launches.size(); ++i) {
      const GraphId graph = facts.ran()[i];
      if (!graph) continue;
      ++found.graph_launches;
      found.conditional_kernels += conditional[graph.index()];
      Add(per_launch[graph.index()], &found.share.in_graphs);
      Add(per_launch[graph.index()], &streams[trace.launches[i].stream].in_graphs);
    }
  }

  void AddEager(const WorkCounts& counts, StreamId stream, Seq seq) {
    if (seq < from) return Add(counts, &found.before);
    Add(counts, &found.share.eager);
    Add(counts, &streams[stream].eager);
  }

  void CountEager() {
    for (const EagerCount& count : trace.eager_counts)
      AddEager({count.kernels, count.copies, count.copied_bytes}, count.stream, count.seq);
    if (!trace.eager_counts.empty()) return;
    for (const EagerWork& work : trace.works)
      AddEager(CountsOf(trace, work.kind, work.accesses), work.stream, work.seq);
  }

  // An event in the order of the trace; at one place, ranges end before others begin.
  struct Point {
    enum What : uint8_t { kEnds, kBegins, kLaunch, kWork };
    Seq seq;
    What what;
    uint32_t index;
    auto operator<=>(const Point&) const = default;
  };

  std::vector<Point> SortedPoints() const {
    std::vector<Point> points;
    const auto add = [&](const auto& column, Point::What what, auto seq) {
      for (uint32_t i = 0; i < column.size(); ++i) points.push_back({column[i].*seq, what, i});
    };
    add(trace.nvtx_ranges, Point::kBegins, &NvtxRange::begin);
    add(trace.nvtx_ranges, Point::kEnds, &NvtxRange::end);
    add(trace.launches, Point::kLaunch, &Launch::seq);
    add(trace.works, Point::kWork, &EagerWork::seq);
    std::ranges::sort(points);
    return points;
  }

  // Sweeps over ranges, launches and works in the order of the trace. A launch doesn't say its
  // thread: it counts for all ranges that are open then.
  void CountRanges() {
    if (trace.nvtx_ranges.empty()) return;
    std::map<std::string_view, CoverageShare> shares;
    std::set<uint32_t> open;
    // Each name once, where ranges of one name lie in each other.
    const auto count = [&](std::optional<ThreadId> thread, const WorkCounts& counts,
                           WorkCounts CoverageShare::*part) {
      std::set<std::string_view> names;
      for (const uint32_t range : open) {
        const NvtxRange& row = trace.nvtx_ranges[range];
        if (!thread || row.thread == *thread) names.insert(trace[row.name]);
      }
      for (const std::string_view name : names) Add(counts, &(shares[name].*part));
    };
    for (const Point& point : SortedPoints()) {
      if (point.what == Point::kEnds) open.erase(point.index);
      if (point.what == Point::kBegins) open.insert(point.index);
      if (point.what == Point::kLaunch && facts.ran()[point.index]) {
        const WorkCounts& counts = per_launch[facts.ran()[point.index].index()];
        count({}, counts, &CoverageShare::in_graphs);
      }
      if (point.what != Point::kWork || point.seq < from) continue;
      const EagerWork& work = trace.works[point.index];
      count(work.thread, CountsOf(trace, work.kind, work.accesses), &CoverageShare::eager);
    }
    for (const auto& [name, share] : shares) found.by_range.push_back({std::string(name), share});
    SortRows(&found.by_range);
  }

  void CountKernels() {
    if (trace.works.empty()) return;
    std::vector<EagerBecause> because(trace.kernels.size(), EagerBecause::kNeverCaptured);
    for (const NodeId id : trace.graph_nodes) {
      const Node& node = trace[id];
      if (node.kind != NodeKind::kKernel || !node.kernel) continue;
      const size_t root = facts.RootOf(id).index();
      const EagerBecause here = !facts.launches()[root].empty() ? EagerBecause::kAlsoInGraphs
                                : facts.invalidated()[root]     ? EagerBecause::kCaptureBroke
                                                                : EagerBecause::kNeverLaunched;
      because[node.kernel.index()] = std::max(because[node.kernel.index()], here);
    }
    std::map<KernelId, uint64_t> launches;
    for (const EagerWork& work : trace.works) {
      if (work.seq >= from && work.kind == NodeKind::kKernel && work.kernel) {
        ++launches[work.kernel];
      }
    }
    for (const auto& [kernel, count] : launches)
      found.kernels.push_back({kernel, because[kernel.index()], count});
    std::ranges::stable_sort(found.kernels, std::ranges::greater(), &EagerKernel::launches);
  }

  void TakeStreams() {
    for (const auto& [stream, share] : streams) {
      const std::string name = stream ? NameOf(trace, stream) : "streams that aren't known";
      found.by_stream.push_back({name, share});
    }
    SortRows(&found.by_stream);
  }

  static void SortRows(std::vector<CoverageRow>* rows) {
    std::ranges::stable_sort(*rows, std::ranges::greater(), [](const CoverageRow& row) {
      return std::pair(row.share.eager.kernels, row.share.in_graphs.kernels);
    });
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  Seq from{trace.launches.empty() ? kNever
                                  : trace.launches.front().seq};  // the first launch of a graph
  Coverage found = {};
  std::vector<WorkCounts> per_launch = {};  // by root graph
  std::map<StreamId, CoverageShare> streams = {};
};

}  // namespace

std::optional<double> ShareOf(uint64_t in_graphs, uint64_t eager) {
  const double all = static_cast<double>(in_graphs) + static_cast<double>(eager);
  if (all == 0) return std::nullopt;
  return static_cast<double>(in_graphs) / all;
}

std::optional<double> CoverageShare::kernels() const {
  return ShareOf(in_graphs.kernels, eager.kernels);
}

Coverage FindCoverage(const Facts& facts) { return CoverageFinder{facts}.Find(); }

}  // namespace graphkit
