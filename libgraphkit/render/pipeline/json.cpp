#include <nlohmann/json.hpp>

#include "libgraphkit/render/pipeline/pipeline.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

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
    json[kRoles[role]] = {{"uses", memory.roles[role].uses},
                          {"buffers", memory.roles[role].buffers}};
  }
  if (!view.map) return json;
  Json map = Json::array();
  for (size_t i = 0; i < memory.buffers.size(); ++i) {
    const GraphBuffer& buffer = memory.buffers[i];
    map.push_back({{"role", kRoles[static_cast<size_t>(buffer.role)]},
                   {"chunk", buffer.chunk},
                   {"layer", buffer.layer},
                   {"microbatch", buffer.microbatch},
                   {"offset", memory.offsets[i]},
                   {"size", buffer.size},
                   {"step", buffer.step},
                   {"freed_by", buffer.freed_by}});
  }
  json["map"] = map;
  return json;
}

Json RankJson(const RankPipeline& rank, const PipelineView& view) {
  Json memory = Json::array();
  for (const PipelineMemory& one : rank.memory) memory.push_back(MemoryJson(one, view));
  return {{"rank", rank.rank},
          {"warmup", rank.warmup},
          {"order", StepOrderText(rank.order)},
          {"held", ActivationsHeld(rank.order)},
          {"memory", memory}};
}

Json PoolJson(const PoolReplays& pool) {
  Json captured = Json::array();
  for (const GraphId graph : pool.captured) captured.push_back(graph.value);
  Json departures = Json::array();
  for (const ReplayDeparture& departure : pool.departures) {
    departures.push_back({{"launch", departure.launch},
                          {"graph", departure.graph.value},
                          {"after", departure.after.value},
                          {"round", departure.round}});
  }
  return {{"pool", pool.pool.value},
          {"captured", captured},
          {"launches", pool.launches},
          {"rounds", pool.rounds},
          {"out_of_order", pool.departure_count},
          {"departures", departures}};
}

void Print(const Json& json, std::ostream& out) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void RenderPipelineJson(const PipelineView& view, std::ostream& out) {
  Json ranks = Json::array();
  for (const RankPipeline& rank : view.ranks) ranks.push_back(RankJson(rank, view));
  Print({{"schema", "graphkit-pipeline"}, {"version", 1}, {"title", view.title}, {"ranks", ranks}},
        out);
}

void RenderReplaysJson(const PoolReplayView& view, std::ostream& out) {
  Json pools = Json::array();
  for (const PoolReplays& pool : view.pools) pools.push_back(PoolJson(pool));
  Json findings = Json::array();
  for (const Finding& finding : view.findings) {
    findings.push_back({{"check", finding.check},
                        {"severity", SeverityName(finding.severity)},
                        {"message", finding.message},
                        {"advice", finding.advice},
                        {"bytes", finding.bytes},
                        {"graph", finding.graph ? Json(finding.graph.value) : Json(nullptr)}});
  }
  Print({{"schema", "graphkit-replays"}, {"version", 1}, {"pools", pools}, {"findings", findings}},
        out);
}

}  // namespace graphkit
