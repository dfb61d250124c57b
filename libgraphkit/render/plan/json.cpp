#include <nlohmann/json.hpp>
#include <string>

#include "libgraphkit/render/id_json.h"
#include "libgraphkit/render/plan/plan.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

Json ArenaJson(const PlannedArena& arena) {
  return Json{{"graph", IdJson(arena.graph)},
              {"pool", IdJson(arena.pool)},
              {"blocks", arena.blocks},
              {"peak_bytes", arena.peak},
              {"lower_bound_bytes", arena.lower_bound}};
}

// One line each: there may be a million of them.
void RenderPlacements(const PlannedMemory& plan, std::ostream& out) {
  for (size_t i = 0; i < plan.placements.size(); ++i) {
    const Placement& placement = plan.placements[i];
    out << (i == 0 ? "\n" : ",\n") << "    "
        << Json{{"block",
                 plan.of_trace ? Json(placement.block) : Json(plan.names[placement.block])},
                {"arena", placement.arena},
                {"offset", placement.offset},
                {"size", placement.size}}
               .dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

Json NodesJson(const PlannedMemory& plan, Slice slice) {
  Json nodes = Json::array();
  for (uint32_t i = 0; i < slice.count; ++i)
    nodes.push_back(plan.proof_nodes[slice.first + i].value);
  return nodes;
}

void RenderShared(const PlannedMemory& plan, std::ostream& out) {
  out << ",\n  \"shared\": [";
  for (size_t i = 0; i < plan.shared.size(); ++i) {
    const SharedBytes& shared = plan.shared[i];
    out << (i == 0 ? "\n" : ",\n") << "    "
        << Json{{"earlier", shared.earlier.value},
                {"later", shared.later.value},
                {"arena", shared.arena},
                {"offset", shared.offset},
                {"size", shared.size},
                {"why", shared.exclusive ? "exclusive" : "ordered"},
                {"ends", NodesJson(plan, shared.ends)},
                {"starts", NodesJson(plan, shared.starts)},
                {"assumes", AssumptionName(shared.assumes)}}
               .dump();
  }
  out << "\n  ]";
}

// Absent unless the graphs share their arenas.
std::string SequenceText(const PlannedMemory& plan) {
  if (plan.sequence.empty()) return "";
  Json graphs = Json::array();
  for (const GraphId graph : plan.sequence) graphs.push_back(graph.value);
  return "  \"sequence\": " + graphs.dump() + ",\n";
}

}  // namespace

void RenderPlanJson(const PlannedMemory& plan, std::ostream& out) {
  out << "{\n  \"schema\": \"graphkit-plan\",\n  \"version\": 1,\n"
      << "  \"source\": \"" << (plan.of_trace ? "trace" : "lifetimes") << "\",\n"
      << "  \"peak_bytes\": " << plan.peak << ",\n"
      << "  \"lower_bound_bytes\": " << plan.lower_bound << ",\n"
      << "  \"optimal\": " << (plan.optimal() ? "true" : "false") << ",\n"
      << "  \"capacity_bytes\": " << (plan.capacity ? Json(*plan.capacity) : Json(nullptr)) << ",\n"
      << "  \"fits\": " << (plan.fits() ? "true" : "false") << ",\n"
      << SequenceText(plan) << "  \"arenas\": [";
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << "    " << ArenaJson(plan.arenas[i]).dump();
  }
  out << "\n  ],\n  \"placements\": [";
  RenderPlacements(plan, out);
  out << "\n  ]";
  if (plan.of_trace) RenderShared(plan, out);
  out << "\n}\n";
}

}  // namespace graphkit
