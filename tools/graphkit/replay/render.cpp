#include "tools/graphkit/replay/render.h"

#include "libgraphkit/model/names.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/plan/plan.h"
#include "tools/graphkit/replay/render_faults.h"

namespace graphkit {

GRAPHKIT_JSON_OF(UnsafePair, earlier, later, last_use, first_use)
GRAPHKIT_JSON_OF(DestroyedOutput, output, by, taker)

namespace {

// The share of the reserved bytes that was never active at once.
double FragmentationOf(const PolicyFigures& figures) {
  if (figures.peak_reserved <= figures.peak_active) return 0;
  return 1 - static_cast<double>(figures.peak_active) / static_cast<double>(figures.peak_reserved);
}

Json FiguresJson(const PolicyFigures& figures) {
  return Json{{"peak_reserved_bytes", figures.peak_reserved},
              {"peak_allocated_bytes", figures.peak_allocated},
              {"peak_active_bytes", figures.peak_active},
              {"peak_extent_bytes", figures.peak_extent},
              {"fragmentation", FragmentationOf(figures)},
              {"never_reclaimed_bytes", figures.never_reclaimed},
              {"missed_bytes", figures.missed},
              {"operations", figures.operations},
              {"deferred_byte_operations", figures.deferred_byte_operations},
              {"pending_looks", figures.pending_looks},
              {"reclaimed", figures.reclaimed},
              {"reclaim_operations", figures.reclaim_operations},
              {"seconds", figures.seconds},
              {"lower_bound_bytes", figures.lower_bound}};
}

// How long frees waited for the malloc that found them complete.
void RenderWaits(std::span<const PolicyReplay> replays, const TextOut& out) {
  const auto waits = [](const PolicyReplay& replay) { return replay.figures.reclaimed > 0; };
  if (std::ranges::none_of(replays, waits)) return;
  TextRows rows = {
      {"policy", "frees that waited", "operations waited, on average", "byte-operations deferred"}};
  for (const PolicyReplay& replay : replays) {
    const PolicyFigures& figures = replay.figures;
    if (!waits(replay)) continue;
    const double mean =
        static_cast<double>(figures.reclaim_operations) / static_cast<double>(figures.reclaimed);
    rows.push_back({ReplayName(replay), FormatCount(figures.reclaimed), Formatted("%.1f", mean),
                    FormatCount(figures.deferred_byte_operations)});
  }
  out << "\n" << Table(rows, "lrrr", "", out.style);
}

Json OutOfMemoryJson(const OutOfMemory* out_of_memory) {
  if (out_of_memory == nullptr) return nullptr;
  return Json{{"block", out_of_memory->block},
              {"seq", out_of_memory->seq},
              {"reserved_bytes", out_of_memory->reserved}};
}

Json FaultJson(const ExecutionFault& fault) {
  Json json{{"seed", fault.seed}};
  GRAPHKIT_ADD_MEMBERS(json, fault.pair, earlier, later, last_use, first_use);
  return json;
}

Json ExecutionJson(const GraphExecution& execution) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, execution, graph, on, orders, seed, nodes, checks);
  json["programmatic_edges_left_out"] = execution.left_out;
  json["faults"] = ListJson(execution.faults, FaultJson);
  return json;
}

Json LoansJson(const PolicyReplay& replay) {
  Json json{{"ranges", replay.lent}};
  json["wrong"] = ListJson(replay.wrong_loans, [](const WrongBorrow& wrong) {
    return Json{{"block", wrong.block}, {"offset", wrong.at}};
  });
  return json;
}

Json PolicyJson(const PolicyReplay& replay, const ReplayView& view) {
  Json policy{{"policy", ReplayName(replay)}};
  policy.update(FiguresJson(replay.figures));
  policy["verified"] = view.verify ? Json(replay.verified) : Json(nullptr);
  if (!replay.destroyed.empty()) policy["destroyed"] = replay.destroyed;
  policy["assumes"] = replay.assumes;
  if (view.capacity) policy["out_of_memory"] = OutOfMemoryJson(RanOut(replay));
  if (!replay.executions.empty()) policy["executions"] = ListJson(replay.executions, ExecutionJson);
  if (replay.lent != 0) policy["loans"] = LoansJson(replay);
  policy["graphs"] = ListJson(replay.graphs, [&view](const GraphReplay& graph) {
    Json json{{"id", graph.graph}};
    json.update(FiguresJson(graph.figures));
    json["unsafe"] = view.verify ? Json(graph.unsafe) : Json(nullptr);
    return json;
  });
  return policy;
}

// Policies that ran out of memory, and those that would have done.
void RenderCapacity(std::span<const PolicyReplay> replays, Bytes capacity, std::ostream& out) {
  std::string enough;
  Bytes bound = 0;
  bool out_of_memory = false;
  for (const PolicyReplay& replay : replays) {
    bound = replay.figures.lower_bound;
    const OutOfMemory* ran_out = RanOut(replay);
    if (ran_out == nullptr) {
      enough += (enough.empty() ? "" : ", ") + std::string(ReplayName(replay));
      continue;
    }
    out << "\n"
        << ReplayName(replay) << ": out of memory at block " << ran_out->block.value << " (record "
        << ran_out->seq << "): it needs " << FormatBytes(ran_out->reserved) << " of "
        << FormatBytes(capacity);
    out_of_memory = true;
  }
  if (!out_of_memory) return;
  out << "\n\n";
  if (!enough.empty()) {
    out << "what to do: " << enough
        << (enough.find(',') != std::string::npos ? " fit\n" : " fits\n");
  } else if (bound > capacity) {
    out << "what to do: no placement fits, whatever the order proves: free blocks earlier, or "
           "order streams that hold them (graphkit analyze)\n";
  } else {
    out << "what to do: the bound fits; try --allocator all, or graphkit plan\n";
  }
}

}  // namespace

const char* ReplayName(const PolicyReplay& replay) {
  return replay.given.empty() ? InfoOf(replay.policy).name : replay.given.c_str();
}

const OutOfMemory* RanOut(const PolicyReplay& replay) {
  for (const GraphReplay& graph : replay.graphs) {
    if (graph.out_of_memory) return &*graph.out_of_memory;
  }
  return nullptr;
}

void RenderReplayText(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Ran& trace, const TextOut& out) {
  TextRows rows = {{"policy", "reserved", "extent", "lower bound", "ratio", "active", "allocated",
                    "fragmentation", "never reclaimed", "missed"}};
  if (view.verify) rows[0].push_back("verified");
  for (const PolicyReplay& replay : replays) {
    const PolicyFigures& figures = replay.figures;
    rows.push_back({ReplayName(replay), FormatBytes(figures.peak_reserved),
                    FormatBytes(figures.peak_extent), FormatBytes(figures.lower_bound),
                    RatioText(figures.peak_extent, figures.lower_bound),
                    FormatBytes(figures.peak_active), FormatBytes(figures.peak_allocated),
                    FormatPercent(FragmentationOf(figures)), FormatBytes(figures.never_reclaimed),
                    FormatBytes(figures.missed)});
    if (view.verify) rows.back().push_back(replay.verified ? "yes" : "no");
  }
  if (trace.process.device == DeviceKind::kSoft) {
    out << "recorded on the software device (simulated)\n\n";
  }
  out << Table(rows, view.verify ? "lrrrrrrrrrl" : "lrrrrrrrrr", "", out.style);
  size_t sharers = 0;
  for (const PolicyReplay& replay : replays) sharers = std::max(sharers, replay.sharers);
  if (sharers > 0) {
    out << "\nassumes that " << FormatCount(sharers)
        << " graphs that share pools run in the order of their captures, and that their outputs "
           "are "
           "read before an earlier one runs again\n";
  }
  if (view.collateral.blocks > 0) {
    out << "\nwhile captures were under way PyTorch would have held back "
        << Counted(view.collateral.blocks, "block")
        << " outside of them as well: " << FormatBytes(view.collateral.peak) << " at once\n";
  }
  RenderWaits(replays, out);
  RenderReplayFaults(replays, trace, out);
  if (view.capacity) RenderCapacity(replays, *view.capacity, out);
}

void RenderReplayJson(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Ran& trace, std::ostream& out) {
  const auto policy = [&view](const PolicyReplay& replay) { return PolicyJson(replay, view); };
  WriteDocument("graphkit-replay",
                Json{{"device", NameOf(trace.process.device)},
                     {"complete", IsComplete(trace)},
                     {"capacity_bytes", view.capacity},
                     {"collateral", Json{{"blocks", view.collateral.blocks},
                                         {"bytes", view.collateral.bytes},
                                         {"peak_bytes", view.collateral.peak}}},
                     {"policies", ListJson(replays, policy)}},
                out);
}

// One point a line: there may be millions of them.
void RenderTimelineJson(std::span<const PolicyReplay> replays, const Ran& trace,
                        std::ostream& out) {
  out << "{\"schema\": \"graphkit-timeline\", \"version\": 1, \"device\": \""
      << NameOf(trace.process.device) << "\", \"policies\": [";
  const char* next_policy = "\n";
  for (const PolicyReplay& replay : replays) {
    out << next_policy << "{\"policy\": \"" << ReplayName(replay) << "\", \"graphs\": [";
    next_policy = ",\n";
    const char* next_graph = "\n";
    for (const GraphReplay& graph : replay.graphs) {
      out << next_graph << "{\"id\": " << graph.graph.value
          << ", \"columns\": [\"seq\", \"allocated_bytes\", \"active_bytes\", "
             "\"reserved_bytes\", \"extent_bytes\"], \"points\": [";
      next_graph = ",\n";
      const char* next_point = "\n";
      for (const TimelinePoint& p : graph.timeline) {
        out << next_point << "[" << p.seq << ", " << p.allocated << ", " << p.active << ", "
            << p.reserved << ", " << p.extent << "]";
        next_point = ",\n";
      }
      out << "]}";
    }
    out << "]}";
  }
  out << "]}\n";
}

}  // namespace graphkit
