#include "libgraphkit/io/plan_file.h"

#include <nlohmann/json.hpp>

#include "libgraphkit/io/json_file.h"

namespace graphkit {

namespace {

using Json = nlohmann::json;

Error Bad(const std::string& path, const std::string& where, const char* what) {
  return Error{.message = where + " " + what,
               .hint = "write a plan with graphkit plan trace.json -o plan.json",
               .file = path};
}

bool IsCount(const Json& value, const char* key) {
  const auto at = value.find(key);
  return at != value.end() && at->is_number_unsigned();
}

template <typename Tag>
Id<Tag> IdOf(const Json& value, const char* key) {
  return IsCount(value, key) ? Id<Tag>(value[key].get<uint32_t>()) : Id<Tag>();
}

Result<void> ReadArenas(const Json& list, const std::string& path, PlannedMemory* plan) {
  for (const Json& arena : list) {
    const std::string where = "arenas[" + std::to_string(plan->arenas.size()) + "]";
    if (!arena.is_object()) return Bad(path, where, "is not an object");
    for (const char* key : {"blocks", "peak_bytes", "lower_bound_bytes"}) {
      if (!IsCount(arena, key))
        return Bad(path, where, "lacks blocks, peak_bytes or lower_bound_bytes");
    }
    plan->arenas.push_back({IdOf<GraphTag>(arena, "graph"), IdOf<PoolTag>(arena, "pool"),
                            arena["blocks"], arena["peak_bytes"], arena["lower_bound_bytes"]});
  }
  return {};
}

Result<void> ReadPlacements(const Json& list, const std::string& path, PlannedMemory* plan) {
  for (const Json& placement : list) {
    const std::string where = "placements[" + std::to_string(plan->placements.size()) + "]";
    for (const char* key : {"block", "arena", "offset", "size"}) {
      if (!placement.is_object() || !IsCount(placement, key)) {
        return Bad(path, where, "lacks block, arena, offset or size");
      }
    }
    const Placement one{placement["block"], placement["arena"], placement["offset"],
                        placement["size"]};
    if (one.arena >= plan->arenas.size())
      return Bad(path, where, "is in an arena that isn't there");
    if (one.offset + one.size < one.offset) return Bad(path, where, "ends beyond 2^64");
    plan->placements.push_back(one);
  }
  return {};
}

}  // namespace

Result<PlannedMemory> ReadPlan(const std::string& path) {
  const Result<Json> json = ReadJsonFile(path);
  if (!json) return json.error();
  if (!json->is_object() || json->value("schema", Json()) != Json("graphkit-plan")) {
    return Bad(path, "the file", "is no plan");
  }
  if (json->value("version", Json()) != Json(1)) return Bad(path, "the plan", "isn't of version 1");
  PlannedMemory plan;
  plan.of_trace = json->value("source", Json()) == Json("trace");
  if (!plan.of_trace) return Bad(path, "the plan", "is of a table, not of a trace");
  const Json none = Json::array();
  for (const Json& graph : json->value("sequence", none)) {
    if (!graph.is_number_unsigned()) return Bad(path, "sequence", "holds what is no graph");
    plan.sequence.push_back(GraphId(graph.get<uint32_t>()));
  }
  const Json arenas = json->value("arenas", none);
  const Json placements = json->value("placements", none);
  if (const Result<void> ok = ReadArenas(arenas, path, &plan); !ok) return ok.error();
  if (const Result<void> ok = ReadPlacements(placements, path, &plan); !ok) return ok.error();
  for (const PlannedArena& arena : plan.arenas) {
    plan.peak += arena.peak;
    plan.lower_bound += arena.lower_bound;
  }
  return plan;
}

}  // namespace graphkit
