#include "libgraphkit/render/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libgraphkit/render/analyze_json.h"
#include "libgraphkit/render/plan_text.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

template <typename Tag>
Json IdJson(Id<Tag> id) {
  return id ? Json(id.value) : Json(nullptr);
}

Json FiguresJson(const PolicyFigures& figures) {
  return Json{{"peak_reserved_bytes", figures.peak_reserved},
              {"peak_allocated_bytes", figures.peak_allocated},
              {"peak_active_bytes", figures.peak_active},
              {"peak_extent_bytes", figures.peak_extent},
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

const char* NameOf(const PolicyReplay& replay) {
  return replay.given.empty() ? InfoOf(replay.policy).name : replay.given.c_str();
}

Json OutOfMemoryJson(const OutOfMemory* out_of_memory) {
  if (out_of_memory == nullptr) return nullptr;
  return Json{{"block", out_of_memory->block.value},
              {"seq", out_of_memory->seq},
              {"reserved_bytes", out_of_memory->reserved}};
}

Json UnsafeJson(const GraphReplay& graph) {
  Json list = Json::array();
  for (const UnsafePair& pair : graph.unsafe) {
    list.push_back(Json{{"earlier", pair.earlier.value},
                        {"later", pair.later.value},
                        {"last_use", IdJson(pair.last_use)},
                        {"first_use", IdJson(pair.first_use)}});
  }
  return list;
}

Json ExecutionJson(const PolicyReplay& replay) {
  Json graphs = Json::array();
  for (const GraphExecution& execution : replay.executions) {
    Json faults = Json::array();
    for (const ExecutionFault& fault : execution.faults) {
      faults.push_back(Json{{"seed", fault.seed},
                            {"earlier", fault.pair.earlier.value},
                            {"later", fault.pair.later.value},
                            {"last_use", IdJson(fault.pair.last_use)},
                            {"first_use", IdJson(fault.pair.first_use)}});
    }
    graphs.push_back(Json{{"graph", execution.graph.value},
                          {"on", "host"},
                          {"orders", execution.orders},
                          {"seed", execution.seed},
                          {"nodes", execution.nodes},
                          {"checks", execution.checks},
                          {"faults", std::move(faults)}});
  }
  return graphs;
}

Json DestroyedJson(const PolicyReplay& replay) {
  Json list = Json::array();
  for (const DestroyedOutput& one : replay.destroyed) {
    list.push_back(
        Json{{"output", one.output.value}, {"by", one.by.value}, {"taker", IdJson(one.taker)}});
  }
  return list;
}

Json PolicyJson(const PolicyReplay& replay, const ReplayView& view) {
  Json policy{{"policy", NameOf(replay)}};
  policy.update(FiguresJson(replay.figures));
  policy["verified"] = view.verify ? Json(replay.verified) : Json(nullptr);
  if (!replay.destroyed.empty()) policy["destroyed"] = DestroyedJson(replay);
  policy["assumes"] = AssumptionName(replay.assumes);
  if (view.capacity) policy["out_of_memory"] = OutOfMemoryJson(RanOut(replay));
  if (!replay.executions.empty()) policy["executions"] = ExecutionJson(replay);
  Json graphs = Json::array();
  for (const GraphReplay& graph : replay.graphs) {
    Json one{{"id", graph.graph.value}};
    one.update(FiguresJson(graph.figures));
    one["unsafe"] = view.verify ? UnsafeJson(graph) : Json(nullptr);
    graphs.push_back(std::move(one));
  }
  policy["graphs"] = std::move(graphs);
  return policy;
}

std::string NodeText(NodeId node, const char* none) {
  return node ? "node " + std::to_string(node.value) : none;
}

void RenderUnsafe(const PolicyReplay& replay, std::ostream& out) {
  for (const GraphReplay& graph : replay.graphs) {
    if (graph.unsafe.empty()) continue;
    const UnsafePair& pair = graph.unsafe.front();
    out << "\n"
        << NameOf(replay) << ", graph " << graph.graph.value << ": "
        << Counted(graph.unsafe.size(), "pair")
        << " of blocks share memory and nothing orders them; the first is block "
        << pair.earlier.value << " and block " << pair.later.value << ": missing is "
        << NodeText(pair.last_use, "the end of the first") << " before "
        << NodeText(pair.first_use, "the allocation of the second") << "\n";
  }
}

void RenderDestroyed(const PolicyReplay& replay, std::ostream& out) {
  if (replay.destroyed.empty()) return;
  const DestroyedOutput& first = replay.destroyed.front();
  const bool one = replay.destroyed.size() == 1;
  out << "\n"
      << NameOf(replay) << ": " << Counted(replay.destroyed.size(), "output")
      << (one ? " is" : " are") << " overwritten by another graph while needed; the first is block "
      << first.output.value << ", by block " << first.by.value
      << (first.taker ? ", before graph " + std::to_string(first.taker.value) + " takes it"
                      : std::string("; no graph takes it, so anyone may read it"))
      << "\n";
}

// How often, from which seed, and the first pair that destroyed one another's bytes.
void RenderExecution(const PolicyReplay& replay, std::ostream& out) {
  uint64_t checks = 0;
  uint64_t nodes = 0;
  for (const GraphExecution& execution : replay.executions) {
    checks += execution.checks;
    nodes += execution.nodes;
  }
  if (replay.executions.empty()) return;
  out << NameOf(replay) << ": executed on the host in "
      << Counted(replay.executions.front().orders, "order") << " from seed "
      << replay.executions.front().seed << ", " << FormatCount(nodes) << " nodes, "
      << FormatCount(checks) << " canary checks" << (replay.executed_clean() ? ": clean\n" : "\n");
  for (const GraphExecution& execution : replay.executions) {
    if (execution.faults.empty()) continue;
    const ExecutionFault& fault = execution.faults.front();
    out << "  graph " << execution.graph.value << ": bytes destroyed in "
        << Counted(execution.faults.size(), "order") << "; the first has seed " << fault.seed
        << ": block " << fault.pair.earlier.value << " and block " << fault.pair.later.value
        << ", node " << fault.pair.last_use.value << " before node " << fault.pair.first_use.value
        << " is missing\n";
  }
}

// What ran out, and which policies would have done.
void RenderCapacity(std::span<const PolicyReplay> replays, Bytes capacity, std::ostream& out) {
  std::string enough;
  Bytes bound = 0;
  bool out_of_memory = false;
  for (const PolicyReplay& replay : replays) {
    bound = replay.figures.lower_bound;
    const OutOfMemory* ran_out = RanOut(replay);
    if (ran_out == nullptr) {
      enough += (enough.empty() ? "" : ", ") + std::string(NameOf(replay));
      continue;
    }
    out << "\n"
        << NameOf(replay) << ": out of memory at block " << ran_out->block.value << " (record "
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

const OutOfMemory* RanOut(const PolicyReplay& replay) {
  for (const GraphReplay& graph : replay.graphs) {
    if (graph.out_of_memory) return &*graph.out_of_memory;
  }
  return nullptr;
}

void RenderReplayText(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Trace& trace, std::ostream& out) {
  std::vector<std::vector<std::string>> rows = {{"policy", "reserved", "extent", "lower bound",
                                                 "ratio", "active", "allocated", "never reclaimed",
                                                 "missed"}};
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  if (view.verify) rows[0].push_back("verified");
  if (view.verify) right.push_back(false);
  for (const PolicyReplay& replay : replays) {
    const PolicyFigures& figures = replay.figures;
    rows.push_back({NameOf(replay), FormatBytes(figures.peak_reserved),
                    FormatBytes(figures.peak_extent), FormatBytes(figures.lower_bound),
                    RatioText(figures.peak_extent, figures.lower_bound),
                    FormatBytes(figures.peak_active), FormatBytes(figures.peak_allocated),
                    FormatBytes(figures.never_reclaimed), FormatBytes(figures.missed)});
    if (view.verify) rows.back().push_back(replay.verified ? "yes" : "no");
  }
  if (trace.process.device == DeviceKind::kSoft) {
    out << "recorded on the software device (simulated)\n\n";
  }
  out << Table(rows, right, "");
  if (view.collateral.blocks > 0) {
    out << "\nwhile captures were under way PyTorch would have held back "
        << Counted(view.collateral.blocks, "block")
        << " outside of them as well: " << FormatBytes(view.collateral.peak) << " at once\n";
  }
  for (const PolicyReplay& replay : replays) RenderUnsafe(replay, out);
  for (const PolicyReplay& replay : replays) RenderDestroyed(replay, out);
  const bool executed =
      std::ranges::any_of(replays, [](const auto& replay) { return !replay.executions.empty(); });
  if (executed) out << "\n";
  for (const PolicyReplay& replay : replays) RenderExecution(replay, out);
  if (view.capacity) RenderCapacity(replays, *view.capacity, out);
}

void RenderReplayJson(std::span<const PolicyReplay> replays, const ReplayView& view,
                      const Trace& trace, std::ostream& out) {
  Json policies = Json::array();
  for (const PolicyReplay& replay : replays) policies.push_back(PolicyJson(replay, view));
  const Json document{{"schema", "graphkit-replay"},
                      {"version", 1},
                      {"device", DeviceName(trace.process.device)},
                      {"complete", trace.completeness.complete()},
                      {"capacity_bytes", view.capacity ? Json(*view.capacity) : Json(nullptr)},
                      {"collateral", Json{{"blocks", view.collateral.blocks},
                                          {"bytes", view.collateral.bytes},
                                          {"peak_bytes", view.collateral.peak}}},
                      {"policies", policies}};
  out << document.dump(2) << "\n";
}

// One point a line: there may be millions of them.
void RenderTimelineJson(std::span<const PolicyReplay> replays, const Trace& trace,
                        std::ostream& out) {
  out << "{\"schema\": \"graphkit-timeline\", \"version\": 1, \"device\": \""
      << DeviceName(trace.process.device) << "\", \"policies\": [";
  const char* next_policy = "\n";
  for (const PolicyReplay& replay : replays) {
    out << next_policy << "{\"policy\": \"" << NameOf(replay) << "\", \"graphs\": [";
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
