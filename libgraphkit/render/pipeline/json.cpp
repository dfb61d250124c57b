#include "libgraphkit/render/json.h"
#include "libgraphkit/render/pipeline/pipeline.h"

namespace graphkit {

GRAPHKIT_JSON_OF(RoleMemory, uses, buffers)
GRAPHKIT_JSON_OF(ReplayDeparture, launch, graph, after, round)

namespace {

constexpr std::array<const char*, kBufferRoles> kRoles = {"input", "output", "output_grad",
                                                          "input_grad"};

Json MemoryJson(const PipelineMemory& memory, const PipelineView& view) {
  Json json;
  for (const PipelineRuleInfo& info : PipelineRules()) {
    if (info.rule == memory.rule) json["rule"] = info.name;
  }
  if (view.sizes_known) {
    json["bytes"] = memory.bytes;
    json["lower_bound_bytes"] = memory.lower_bound;
    json["live_bytes_by_step"] = memory.live_by_step;
  }
  for (size_t role = 0; role < kBufferRoles; ++role) {
    json[kRoles[role]] = memory.roles[role];
  }
  if (!view.details) return json;
  Json map = Json::array();
  for (size_t i = 0; i < memory.buffers.size(); ++i) {
    const GraphBuffer& buffer = memory.buffers[i];
    map.push_back({{"role", kRoles[static_cast<size_t>(buffer.role)]}});
    GRAPHKIT_ADD_MEMBERS(map.back(), buffer, chunk, layer, microbatch);
    map.back()["offset"] = memory.offsets[i];
    GRAPHKIT_ADD_MEMBERS(map.back(), buffer, size, step, freed_by);
  }
  json["map"] = map;
  return json;
}

Json RankPipelineJson(const RankPipeline& rank, const PipelineView& view) {
  const auto memory = [&view](const PipelineMemory& of) { return MemoryJson(of, view); };
  return {{"rank", rank.rank},
          {"warmup", rank.warmup},
          {"order", StepOrderText(rank.order)},
          {"held", ActivationsHeld(rank.order)},
          {"memory", ListJson(rank.memory, memory)}};
}

Json PoolJson(const PoolReplays& pool) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, pool, pool, captured, launches, rounds);
  json["out_of_order"] = pool.departure_count;
  json["departures"] = pool.departures;
  return json;
}

Json FindingJson(const Finding& finding) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, finding, check, severity, message, advice, bytes, graph);
  return json;
}

}  // namespace

void RenderPipelineJson(const PipelineView& view, std::ostream& out) {
  const auto rank = [&view](const RankPipeline& of) { return RankPipelineJson(of, view); };
  WriteDocument("graphkit-pipeline",
                Json{{"title", view.title}, {"ranks", ListJson(view.ranks, rank)}}, out);
}

void RenderReplaysJson(const PoolReplayView& view, std::ostream& out) {
  WriteDocument("graphkit-replays",
                Json{{"pools", ListJson(view.pools, PoolJson)},
                     {"findings", ListJson(view.findings, FindingJson)}},
                out);
}

}  // namespace graphkit
