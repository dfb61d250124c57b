#include "libgraphkit/render/json.h"
#include "libgraphkit/render/estimate/estimate.h"

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

void RenderEstimateJson(const MemoryEstimate& estimate, std::ostream& out) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, estimate, device, alloc_conf, sizes_from, kinds, sizes, shared_pool,
                       own_pools, execs, exec_source);
  json["total"] = {{"shared_pool", Sum(estimate.shared_pool, estimate.execs)},
                   {"own_pools", Sum(estimate.own_pools, estimate.execs)}};
  GRAPHKIT_ADD_MEMBERS(json, estimate, budget, candidates, requested, notes);
  WriteDocument("graphkit-estimate", std::move(json), out);
}

}  // namespace graphkit
