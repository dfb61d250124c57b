#include "libgraphkit/render/json.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/estimate/estimate.h"

namespace graphkit {

GRAPHKIT_JSON_OF(ByteRange, bytes, low, high)

namespace {

Json KindJson(const EstimatedKind& kind) {
  Json json{{"first_graph", kind.first}};
  GRAPHKIT_ADD_MEMBERS(json, kind, graphs, nodes, blocks, captured);
  json["blocks_by_growth"] = Json{{"constant", kind.constant},
                                  {"proportional", kind.proportional},
                                  {"linear", kind.linear},
                                  {"unsure", kind.unsure}};
  return json;
}

Json SizeJson(const EstimatedSize& size) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, size, size, graphs, captured, like, own_pools, pool_growth, execs);
  GRAPHKIT_ADD_MEMBERS(json, size, launches, padding);
  json["capture_ns"] = size.capture_ns == 0 ? Json(nullptr) : Json(size.capture_ns);
  return json;
}

}  // namespace

void RenderEstimateJson(const MemoryEstimate& estimate, std::ostream& out) {
  WriteDocument("graphkit-estimate",
                Json{{"device", NameOf(estimate.device)},
                     {"alloc_conf", estimate.alloc_conf},
                     {"sizes_from", NameOf(estimate.sizes_from)},
                     {"kinds", ListJson(estimate.kinds, KindJson)},
                     {"sizes", ListJson(estimate.sizes, SizeJson)},
                     {"shared_pool", estimate.shared_pool},
                     {"own_pools", estimate.own_pools},
                     {"execs", estimate.execs},
                     {"exec_source", NameOf(estimate.exec_source)},
                     {"total", Json{{"shared_pool", Sum(estimate.shared_pool, estimate.execs)},
                                    {"own_pools", Sum(estimate.own_pools, estimate.execs)}}},
                     {"budget", estimate.budget},
                     {"candidates", estimate.candidates},
                     {"requested", estimate.requested},
                     {"notes", estimate.notes}},
                out);
}

}  // namespace graphkit
