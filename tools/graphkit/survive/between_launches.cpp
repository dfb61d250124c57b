#include "tools/graphkit/survive/between_launches.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

GRAPHKIT_JSON_OF(BorrowWindow, after, before, count, unordered, shortest_ns, median_ns)
namespace {

// In the order of BorrowBar.
constexpr const char* kBarredBecause[] = {"another graph touches them",
                                          "read before they are surely written",
                                          "not freed in their capture",
                                          "freed while one of their streams wasn't captured",
                                          "used outside of graphs between launches",
                                          "allocated outside of captures",
                                          "touched where no block lies"};

std::string BarredText(const Ran& trace, const BarredBlock& barred) {
  const std::string bytes = FormatBytes(barred.bytes.size());
  if (!barred.block.valid()) return bytes + " at " + HexText(barred.bytes.begin);
  const Block& block = trace[barred.block];
  const bool whole = barred.bytes.size() == block.size;
  const std::string text = "block " + std::to_string(barred.block.value) + " (" + bytes +
                           (whole ? "" : " of " + FormatBytes(block.size)) + ")";
  const std::string site = StackTitle(trace, block.stack);
  return site.empty() ? text : text + ", " + site;
}

void RenderBarred(const PoolBorrow& pool, const Ran& trace, const TextOut& out) {
  std::map<BorrowBar, std::vector<BarredBlock>> by_bar;
  for (const BarredBlock& barred : pool.barred) by_bar[barred.why].push_back(barred);
  for (const auto& [why, ranges] : by_bar) {
    Bytes bytes = 0;
    std::set<BlockId> blocks;
    for (const BarredBlock& barred : ranges) {
      bytes += barred.bytes.size();
      blocks.insert(barred.block);
    }
    const bool named = !blocks.contains(BlockId());
    const char* of = named ? "block" : "range";
    const size_t count = named ? blocks.size() : ranges.size();
    out.Wrap("  barred: ", Counted(count, of) + " (" + FormatBytes(bytes) + "), " +
                               kBarredBecause[static_cast<size_t>(why)]);
    out.Top(ranges, "    ",
            [&](const BarredBlock& barred) { out.Wrap("    ", BarredText(trace, barred)); });
  }
}

std::string WindowText(const BorrowWindow& window, const Ran& trace) {
  std::string text = "after " + GraphTitle(trace, window.after) + ", before " +
                     GraphTitle(trace, window.before) + ": " + Counted(window.count, "time");
  if (window.unordered > 0) {
    text += "; " + FormatCount(window.unordered) +
            " of them without order, so that they may overlap: no window";
  }
  if (window.shortest_ns) {
    text += "; " + FormatNanoseconds(*window.shortest_ns) + " at least, " +
            FormatNanoseconds(*window.median_ns) + " in the median";
  }
  return text;
}

std::string GraphsText(const PoolBorrow& pool, const Ran& trace) {
  constexpr size_t kShownGraphs = 8;
  std::vector<std::string> graphs;
  for (const GraphId graph : pool.graphs) {
    if (graphs.size() == kShownGraphs) break;
    graphs.push_back(GraphTitle(trace, graph));
  }
  if (pool.graphs.size() > kShownGraphs) {
    graphs.push_back(FormatCount(pool.graphs.size() - kShownGraphs) + " more");
  }
  return AndList(graphs);
}

void RenderPool(const PoolBorrow& pool, const Ran& trace, const TextOut& out) {
  const Bytes idle = pool.reserved - std::min(pool.in_use, pool.reserved);
  out.Wrap("", PoolTitle(trace, pool.pool) + " of " + GraphsText(pool, trace));
  out << Table({{"reserved", FormatBytes(pool.reserved)},
                {"idle", FormatBytes(idle) + ": in no block between launches"},
                {"may be borrowed", FormatBytes(pool.free_bytes()) + " in " +
                                        Counted(pool.free.size(), "range") + ", the largest " +
                                        FormatBytes(pool.largest())}},
               "ll", "  ");
  RenderBarred(pool, trace, out);
  if (pool.windows.empty()) {
    out << (pool.launches == 0 ? "  window: not launched in this trace\n"
                               : "  window: launched once in this trace\n");
  }
  out.Top(pool.windows, "  windows: ", [&](const BorrowWindow& window) {
    out.Wrap("  window: ", WindowText(window, trace));
  });
}

std::string UntilText(const BorrowAt& one, const Ran& trace) {
  std::string text = "until " + NameOf(trace, one.last) + " ends";
  text += ", " + Counted(one.nodes, "node");
  if (one.ns != 0) text += ", " + FormatNanoseconds(one.ns);
  return text;
}

void RenderAt(const BorrowView& view, const Ran& trace, const TextOut& out) {
  out << "At " << NameOf(trace, view.at) << " of " << GraphTitle(trace, trace[view.at].graph)
      << ", in the arenas of the plan:\n";
  if (view.at_node.empty()) out << "  nothing is free\n";
  TextRows rows = {{"pool", "offset", "size", "free"}};
  for (const BorrowAt& one : view.at_node) {
    const PoolId pool = view.plan->arenas[one.range.arena].pool;
    rows.push_back({pool.valid() ? PoolTitle(trace, pool) : "no pool",
                    FormatCount(one.range.offset), FormatBytes(one.range.size),
                    UntilText(one, trace)});
  }
  if (rows.size() > 1) out << Table(rows, "lrrl", "  ", out.style);
}

void RenderPlanned(const PlannedMemory& plan, std::ostream& out) {
  Bytes bytes = 0;
  for (const BorrowedRange& range : *plan.borrow) bytes += range.size;
  out << "As planned: " << FormatBytes(bytes) << " of " << FormatBytes(plan.peak) << " in "
      << Counted(plan.borrow->size(), "range") << " between launches\n";
}

Json PoolJson(const PoolBorrow& pool, const Ran& trace) {
  const auto range = [](const Interval<Address>& of) {
    return Json{{"address", of.begin}, {"size", of.size()}};
  };
  const auto barred = [&](const BarredBlock& of) {
    return Json{{"block", of.block},
                {"size", of.bytes.size()},
                {"why", of.why},
                {"allocated_at", StackTitle(trace, trace[of.block].stack)}};
  };
  Bytes no_block = 0;
  std::vector<BarredBlock> blocks;
  for (const BarredBlock& of : pool.barred) {
    if (of.block.valid()) blocks.push_back(of);
    if (!of.block.valid()) no_block += of.bytes.size();
  }
  return Json{{"pool", pool.pool},
              {"graphs", pool.graphs},
              {"launches", pool.launches},
              {"reserved_bytes", pool.reserved},
              {"in_use_bytes", pool.in_use},
              {"free_bytes", pool.free_bytes()},
              {"largest_range_bytes", pool.largest()},
              {"ranges", ListJson(pool.free, range)},
              {"barred", ListJson(blocks, barred)},
              {"barred_without_block_bytes", no_block},
              {"windows", pool.windows}};
}

Json AtJson(const BorrowAt& one) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, one.range, arena, offset, size);
  GRAPHKIT_ADD_MEMBERS(json, one, last, until, nodes, ns);
  return json;
}

}  // namespace

void RenderBorrowText(const BorrowView& view, const Ran& trace, const TextOut& out) {
  if (view.pools.empty()) {
    out << "No capture allocated in an allocator's pool: there is nothing to borrow.\n";
  }
  for (size_t i = 0; i < out.Shown(view.pools.size()); ++i) {
    if (i > 0) out << "\n";
    RenderPool(view.pools[i], trace, out);
  }
  if (const std::string more = out.More(view.pools.size(), ""); !more.empty()) {
    out << "\n" << more;
  }
  if (view.graph_memory.blocks > 0) {
    if (!view.pools.empty()) out << "\n";
    out.Wrap("", "Graph memory isn't lent (" + Counted(view.graph_memory.blocks, "block") + ", " +
                     FormatBytes(view.graph_memory.bytes) +
                     " of memory-alloc nodes): after a launch no allocation has its addresses. "
                     "The driver uses its pages for other graphs, and cudaDeviceGraphMemTrim "
                     "gives back what idles.");
  }
  if (view.plan != nullptr && view.plan->borrow) {
    out << "\n";
    RenderPlanned(*view.plan, out);
  }
  if (view.at.valid()) {
    out << "\n";
    RenderAt(view, trace, out);
  }
  if (view.pools.empty()) return;
  out.Paragraph("",
                trace.process.all_work
                    ? "Assumes that kernels access only memory passed as arguments."
                    : "Assumes that work outside of graphs uses only memory that is allocated, but "
                      "for what this trace holds of it (graphkit trace --scope all holds all).");
}

Json BorrowJson(const BorrowView& view, const Ran& trace) {
  const auto pool = [&trace](const PoolBorrow& of) { return PoolJson(of, trace); };
  Json json{
      {"work_outside_recorded", trace.process.all_work},
      {"pools", ListJson(view.pools, pool)},
      {"graph_memory", {{"blocks", view.graph_memory.blocks}, {"bytes", view.graph_memory.bytes}}}};
  if (view.at.valid()) {
    json["at"] = Json{{"node", view.at}, {"ranges", ListJson(view.at_node, AtJson)}};
  }
  return json;
}

}  // namespace graphkit
