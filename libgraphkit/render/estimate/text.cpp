#include <string>
#include <vector>

#include "libgraphkit/model/names.h"
#include "libgraphkit/render/estimate/estimate.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

// "34 MiB", or "34 MiB (30 MiB to 36 MiB)".
std::string RangeText(const ByteRange& range) {
  const std::string text = FormatBytes(range.bytes);
  if (range.low == range.high) return text;
  return text + " (" + FormatBytes(range.low) + " to " + FormatBytes(range.high) + ")";
}

std::string KindText(const EstimatedKind& kind) {
  std::string sizes;
  for (const uint64_t size : kind.captured)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return "graph " + std::to_string(kind.first.value) +
         (kind.graphs > 1 ? " and " + Counted(kind.graphs - 1, "graph") + " like it" : "") + ": " +
         Counted(kind.nodes, "node") + ", " + Counted(kind.blocks, "block") +
         ", captured at size " + sizes;
}

}  // namespace

void RenderEstimate(const MemoryEstimate& estimate, const TextStyle& style, std::ostream& out) {
  const bool soft = estimate.device == DeviceKind::kSoft;
  for (const EstimatedKind& kind : estimate.kinds) out << Wrapped("", KindText(kind), style);
  if (soft) out << "recorded on the software device (simulated)\n";
  if (!estimate.alloc_conf.empty())
    out << Wrapped("", "PyTorch's allocator with " + Printable(estimate.alloc_conf), style);
  const auto row = [](const EstimatedSize& size) {
    return TextRow{std::to_string(size.size),
                   FormatCount(size.graphs),
                   size.captured ? "captured" : std::to_string(size.like),
                   RangeText(size.own_pools),
                   RangeText(size.pool_growth),
                   RangeText(size.execs)};
  };
  out << "\n"
      << TopTable(
             {"size", "graphs", "like", "pools of their own", "one pool grows by", "executables"},
             "rrrlll", "", style, estimate.sizes, row)
      << "\n";
  const TextRows sums = {
      {"one pool, the largest first", RangeText(estimate.shared_pool)},
      {"a pool for each graph", RangeText(estimate.own_pools)},
      {"executables, " + std::string(NameOf(estimate.exec_source)), RangeText(estimate.execs)},
      {"in all, with one pool", RangeText(Sum(estimate.shared_pool, estimate.execs))},
      {"in all, with a pool for each", RangeText(Sum(estimate.own_pools, estimate.execs))}};
  out << Table(sums, "ll", "", style);
  for (const std::string& note : estimate.notes) out << Wrapped("- ", note, style);
}

}  // namespace graphkit
