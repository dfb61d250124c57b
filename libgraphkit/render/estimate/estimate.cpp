#include <string>
#include <utility>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/estimate/estimate.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

void to_json(Json& json, const EstimatedKind& kind) {
  json = {{"first_graph", kind.first}};
  GRAPHKIT_ADD_MEMBERS(json, kind, graphs, nodes, blocks, captured);
  Json& growth = json["blocks_by_growth"];
  GRAPHKIT_ADD_MEMBERS(growth, kind, constant, proportional, linear, unsure);
}

void to_json(Json& json, const EstimatedSize& size) {
  GRAPHKIT_ADD_MEMBERS(json, size, size, graphs, captured, like, own_pools, pool_growth, execs,
                       launches, padding);
  json["capture_ns"] = size.capture_ns == 0 ? Json(nullptr) : Json(size.capture_ns);
}

namespace {

// All of the graphs' memory, with their pools' given.
ByteRange Total(ByteRange pools, const MemoryEstimate& estimate) {
  for (const auto& [name, bytes] : estimate.workspaces) pools += {bytes, bytes, bytes};
  return pools += estimate.execs;
}

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

// "capture 3 of 8 sizes, 1,4,8: padding 4.1% (1,234 beyond 30,000 requested), in 11.9 MiB of 12
// MiB".
std::string ChosenText(const MemoryEstimate& estimate) {
  uint64_t padding = 0;
  std::string sizes;
  for (const EstimatedSize& size : estimate.sizes) {
    padding += size.padding;
    sizes = std::to_string(size.size) + (sizes.empty() ? "" : ",") + sizes;
  }
  const auto share =
      static_cast<double>(padding) / static_cast<double>(padding + estimate.requested);
  return "capture " + FormatCount(estimate.sizes.size()) + " of " +
         Counted(estimate.candidates, "size") + ", " + sizes + ": padding " + FormatPercent(share) +
         " (" + FormatCount(padding) + " beyond " + FormatCount(estimate.requested) +
         " requested), in " + FormatBytes(estimate.shared_pool.bytes + estimate.execs.bytes) +
         " of " + FormatBytes(*estimate.budget);
}

}  // namespace

void RenderEstimate(const MemoryEstimate& estimate, const TextOut& out) {
  const bool soft = estimate.device == DeviceKind::kSoft;
  for (const EstimatedKind& kind : estimate.kinds) out.Wrap("", KindText(kind));
  if (soft) out << "recorded on the software device (simulated)\n";
  if (!estimate.alloc_conf.empty())
    out.Wrap("", "PyTorch's allocator with " + Printable(estimate.alloc_conf));
  TextRow head = {"size",       "graphs", "like", "pools of their own", "one pool grows by",
                  "executables"};
  if (estimate.budget) {
    out.Wrap("", ChosenText(estimate));
    head.insert(head.end(), {"launches", "padding", "capture"});
  }
  const auto row = [&](const EstimatedSize& size) {
    TextRow cells{std::to_string(size.size),
                  FormatCount(size.graphs),
                  size.captured ? "captured" : std::to_string(size.like),
                  RangeText(size.own_pools),
                  RangeText(size.pool_growth),
                  RangeText(size.execs)};
    if (!estimate.budget) return cells;
    const bool timed = size.capture_ns != 0;
    cells.insert(cells.end(), {FormatCount(size.launches), FormatCount(size.padding),
                               timed ? FormatNanoseconds(size.capture_ns) : "-"});
    return cells;
  };
  out << "\n";
  out.TopTable(std::move(head), estimate.budget ? "rrrlllrrr" : "rrrlll", "", estimate.sizes, row);
  out << "\n";
  TextRows sums = {
      {"one pool, the largest first", RangeText(estimate.shared_pool)},
      {"a pool for each graph", RangeText(estimate.own_pools)},
      {"executables, " + std::string(NameOf(estimate.exec_source)), RangeText(estimate.execs)}};
  for (const auto& [name, bytes] : estimate.workspaces)
    sums.push_back({name + ", outside of the pools", FormatBytes(bytes)});
  sums.push_back({"in all, with one pool", RangeText(Total(estimate.shared_pool, estimate))});
  sums.push_back({"in all, with a pool for each", RangeText(Total(estimate.own_pools, estimate))});
  out << Table(sums, "ll", "", out.style);
  for (const std::string& note : estimate.notes) out.Wrap("- ", note);
}

void RenderEstimateJson(const MemoryEstimate& estimate, std::ostream& out) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, estimate, device, alloc_conf, sizes_from, kinds, sizes, shared_pool,
                       own_pools, execs, exec_source, workspaces);
  json["total"] = {{"shared_pool", Total(estimate.shared_pool, estimate)},
                   {"own_pools", Total(estimate.own_pools, estimate)}};
  GRAPHKIT_ADD_MEMBERS(json, estimate, budget, candidates, requested, notes);
  WriteDocument("graphkit-estimate", std::move(json), out);
}

}  // namespace graphkit
