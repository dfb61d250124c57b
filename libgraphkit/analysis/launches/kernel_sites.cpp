#include "libgraphkit/analysis/launches/launches.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

struct SiteFinder {
  // Null: the stack has no frame of the program's own code.
  SiteLaunches* At(KernelId kernel, StackId stack) {
    if (!stack || !kernel) return nullptr;
    const auto [known, is_new] = frame_of.try_emplace(stack);
    if (is_new) known->second = FrameOf(stack);
    return known->second ? &sites[{kernel, *known->second}] : nullptr;
  }

  void AddOutside(const EagerSite& row) {
    SiteLaunches* site = At(row.kernel, row.stack);
    if (site == nullptr) return;
    AddNumbers(row.seq, trace.shapes.size(), &site->outside);
    if (site->counts.empty()) {
      site->first = row.first;
      site->thread = row.thread;
      site->stack = row.stack;
    }
    if (site->thread != row.thread) return;
    site->last = row.last;
    site->counts.push_back({row.seq, site->all() + row.launches});
  }

  // Of what stands at a place of the trace.
  void AddNumbers(Seq seq, size_t shape, Numbers* numbers) const {
    constexpr size_t kMost = 64;
    const auto add = [&](uint16_t argument, uint16_t offset, uint64_t bits) {
      std::vector<uint64_t>& values = (*numbers)[{argument, offset}];
      if (values.size() < kMost && std::ranges::count(values, bits) == 0) values.push_back(bits);
    };
    for (const Scalar& scalar : RowsAt(trace.scalars, seq))
      add(scalar.argument, scalar.offset, scalar.bits);
    for (uint16_t i = 0; shape < trace.shapes.size() && i < 3; ++i)
      add(Scalar::kGrid, i, trace.shapes[shape].grid[i]);
  }

  std::optional<uint32_t> FrameOf(StackId stack) {
    const CallSite site = CallSiteOf(trace, stack);
    if (!site.own) return std::nullopt;
    std::vector<std::tuple<StringId, StringId, uint32_t>> path;
    for (uint32_t i = site.inner.value_or(*site.own); i <= *site.own; ++i) {
      const StackFrame& frame = trace.stack_frames[i];
      path.emplace_back(frame.function, frame.file, frame.line);
    }
    return frames.try_emplace(std::move(path), *site.own).first->second;
  }

  const Trace& trace;
  KernelSites sites = {};
  std::unordered_map<StackId, std::optional<uint32_t>> frame_of = {};
  std::map<std::vector<std::tuple<StringId, StringId, uint32_t>>, uint32_t> frames = {};
};

}  // namespace

uint64_t SiteLaunches::Before(Seq seq) const {
  const auto next = std::ranges::lower_bound(counts, seq, {}, &Count::seq);
  return next == counts.begin() ? 0 : std::prev(next)->launches;
}

KernelSites FindKernelSites(const Trace& trace, const std::vector<bool>& never_run) {
  SiteFinder finder{trace};
  for (const EagerSite& row : trace.eager_sites) finder.AddOutside(row);
  for (size_t i = 0; !finder.sites.empty() && i < trace.nodes.size(); ++i) {
    const Node node = trace.nodes[i];
    if (never_run[node.graph.index()] || FindChanged(trace, NodeId(i)) != nullptr) continue;
    SiteLaunches* site = finder.At(node.kernel, node.stack);
    if (site == nullptr) continue;
    site->nodes.emplace_back(i);
    finder.AddNumbers(node.seq, node.shape, &site->captured);
  }
  return std::move(finder.sites);
}

}  // namespace graphkit
