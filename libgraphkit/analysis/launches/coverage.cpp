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

// The bytes that a copy writes, or reads where it writes to unknown memory.
Bytes CopiedBytes(const Trace& trace, Slice accesses) {
  Bytes bytes = 0;
  for (const Access& access : trace.accesses.Of(accesses)) {
    if (access.length != kLengthUnknown) bytes = std::max(bytes, access.length);
  }
  return bytes;
}

// The counts of one piece of work.
WorkCounts CountsOf(const Trace& trace, NodeKind kind, Slice accesses) {
  if (kind == NodeKind::kKernel) return {.kernels = 1};
  if (kind != NodeKind::kMemcpy) return {};
  return {.copies = 1, .copied_bytes = CopiedBytes(trace, accesses)};
}

class CoverageFinder {
 public:
  explicit CoverageFinder(const Facts& facts)
      : facts_(facts),
        trace_(facts.trace),
        from_(trace_.launches.empty() ? kNever : trace_.launches.front().seq) {}

  Coverage Find() {
    for (const Capture& capture : trace_.captures) {
      found_.broken_captures += capture.status == CaptureStatus::kInvalidated;
    }
    // A trace that was cut off may lack its counts, and hold a part of the work.
    const bool part = trace_.completeness.truncated && !trace_.process.all_work;
    if (trace_.eager_counts.empty() && (trace_.works.empty() || part)) {
      found_.unknown = "work outside of graphs wasn't recorded: record with --scope all";
    } else if (trace_.launches.empty()) {
      found_.unknown = "no graph was launched";
    }
    CountGraphs();
    CountEager();
    if (trace_.eager_counts.empty()) {
      CountRanges();
      CountKernels();
    }
    TakeStreams();
    return std::move(found_);
  }

 private:
  void CountGraphs() {
    per_launch_.resize(trace_.graphs.size());
    std::vector<uint64_t> conditional(trace_.graphs.size());
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      if (!InGraph(trace_, node)) continue;
      const size_t root = facts_.RootOf(NodeId(i)).index();
      Add(CountsOf(trace_, node.kind, node.accesses), &per_launch_[root]);
      const bool kernel = node.kind == NodeKind::kKernel;
      if (kernel && InConditional(trace_, NodeId(i))) ++conditional[root];
    }
    for (size_t i = 0; i < trace_.launches.size(); ++i) {
      const GraphId graph = facts_.ran()[i];
      if (!graph) continue;
      ++found_.graph_launches;
      found_.conditional_kernels += conditional[graph.index()];
      Add(per_launch_[graph.index()], &found_.share.in_graphs);
      Add(per_launch_[graph.index()], &streams_[trace_.launches[i].stream].in_graphs);
    }
  }

  void AddEager(const WorkCounts& counts, StreamId stream, Seq seq) {
    if (seq < from_) return Add(counts, &found_.before);
    Add(counts, &found_.share.eager);
    Add(counts, &streams_[stream].eager);
  }

  void CountEager() {
    for (const EagerCount& count : trace_.eager_counts) {
      AddEager({count.kernels, count.copies, count.copied_bytes}, count.stream, count.seq);
    }
    if (!trace_.eager_counts.empty()) return;
    for (const EagerWork& work : trace_.works) {
      AddEager(CountsOf(trace_, work.kind, work.accesses), work.stream, work.seq);
    }
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
    const auto add = [&](const auto& column, Point::What what, auto seq_of) {
      for (uint32_t i = 0; i < column.size(); ++i) points.push_back({seq_of(column[i]), what, i});
    };
    const auto seq_of = [](const auto& row) { return row.seq; };
    add(trace_.nvtx_ranges, Point::kBegins, [](const NvtxRange& range) { return range.begin; });
    add(trace_.nvtx_ranges, Point::kEnds, [](const NvtxRange& range) { return range.end; });
    add(trace_.launches, Point::kLaunch, seq_of);
    add(trace_.works, Point::kWork, seq_of);
    std::ranges::sort(points);
    return points;
  }

  // Sweeps over ranges, launches and works in the order of the trace. A launch doesn't say its
  // thread: it counts for all ranges that are open then.
  void CountRanges() {
    if (trace_.nvtx_ranges.empty()) return;
    std::map<std::string_view, CoverageShare> shares;
    std::set<uint32_t> open;
    // Each name once, where ranges of one name lie in each other.
    const auto count = [&](std::optional<ThreadId> thread, const WorkCounts& counts,
                           WorkCounts CoverageShare::*part) {
      std::set<std::string_view> names;
      for (const uint32_t range : open) {
        const NvtxRange& row = trace_.nvtx_ranges[range];
        if (!thread || row.thread == *thread) names.insert(trace_[row.name]);
      }
      for (const std::string_view name : names) Add(counts, &(shares[name].*part));
    };
    for (const Point& point : SortedPoints()) {
      if (point.what == Point::kEnds) open.erase(point.index);
      if (point.what == Point::kBegins) open.insert(point.index);
      if (point.what == Point::kLaunch && facts_.ran()[point.index]) {
        const WorkCounts& counts = per_launch_[facts_.ran()[point.index].index()];
        count({}, counts, &CoverageShare::in_graphs);
      }
      if (point.what != Point::kWork || point.seq < from_) continue;
      const EagerWork& work = trace_.works[point.index];
      count(work.thread, CountsOf(trace_, work.kind, work.accesses), &CoverageShare::eager);
    }
    for (const auto& [name, share] : shares) {
      found_.by_range.push_back({std::string(name), share});
    }
    SortRows(&found_.by_range);
  }

  void CountKernels() {
    std::vector<EagerBecause> because(trace_.kernels.size(), EagerBecause::kNeverCaptured);
    std::vector<bool> launched(trace_.graphs.size());
    for (const GraphId graph : facts_.ran()) {
      if (graph) launched[graph.index()] = true;
    }
    for (const Node& node : trace_.nodes) {
      if (node.kind != NodeKind::kKernel || !node.kernel) continue;
      const size_t root = facts_.roots()[node.graph.index()].index();
      const EagerBecause here = launched[root]               ? EagerBecause::kAlsoInGraphs
                                : facts_.invalidated()[root] ? EagerBecause::kCaptureBroke
                                                             : EagerBecause::kNeverLaunched;
      because[node.kernel.index()] = std::max(because[node.kernel.index()], here);
    }
    std::map<KernelId, uint64_t> launches;
    for (const EagerWork& work : trace_.works) {
      if (work.seq >= from_ && work.kind == NodeKind::kKernel && work.kernel) {
        ++launches[work.kernel];
      }
    }
    for (const auto& [kernel, count] : launches) {
      found_.kernels.push_back({kernel, because[kernel.index()], count});
    }
    std::ranges::stable_sort(found_.kernels, std::ranges::greater(), &EagerKernel::launches);
  }

  void TakeStreams() {
    for (const auto& [stream, share] : streams_) {
      const std::string name = stream ? NameOf(trace_, stream) : "streams that aren't known";
      found_.by_stream.push_back({name, share});
    }
    SortRows(&found_.by_stream);
  }

  static void SortRows(std::vector<CoverageRow>* rows) {
    std::ranges::stable_sort(*rows, std::ranges::greater(), [](const CoverageRow& row) {
      return std::pair(row.share.eager.kernels, row.share.in_graphs.kernels);
    });
  }

  const Facts& facts_;
  const Trace& trace_;
  Seq from_;  // the first launch of a graph
  Coverage found_;
  std::vector<WorkCounts> per_launch_;  // by root graph
  std::map<StreamId, CoverageShare> streams_;
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

Coverage FindCoverage(const Facts& facts) { return CoverageFinder(facts).Find(); }

}  // namespace graphkit
