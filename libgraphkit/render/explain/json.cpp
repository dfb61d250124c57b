#include "libgraphkit/render/json.h"
#include "libgraphkit/render/explain/explain.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NextCommand, command, shows)
GRAPHKIT_JSON_OF(OutOfMemoryEvent, event, asked, free_on_device)
GRAPHKIT_JSON_OF(MemoryRemark, kind, bytes, text, advice)

namespace {

Json HolderJson(const HeldGroup& group) {
  static constexpr std::array<const char*, 5> kKinds = {"line", "operation", "no-stack",
                                                        "before-recording", "pool"};
  const bool line = group.kind == HeldGroup::Kind::kLine;
  const std::string_view role = RoleText(group.role);
  return Json{{"kind", kKinds[static_cast<size_t>(group.kind)]},
              {"file", line ? Json(group.file) : Json(nullptr)},
              {"line", line ? Json(group.line) : Json(nullptr)},
              {"pool", group.pool},
              {"operations", group.operations},
              {"role", role.empty() ? Json(nullptr) : Json(role)},
              {"bytes", group.bytes},
              {"blocks", group.blocks}};
}

Json IdleJson(const IdleMemory& idle) {
  Json json{{"bytes", idle.bytes()}};
  GRAPHKIT_ADD_MEMBERS(json, idle, empty_segments, empty_bytes, gaps, gap_bytes, largest_bytes,
                       private_bytes);
  return json;
}

Json DeviceJson(const MemoryAccount& account) {
  Json json{{"device", account.device},
            {"peak_event", account.peak_event},
            {"idle_at_end", IdleJson(account.idle_at_end)},
            {"out_of_memory", account.out_of_memory ? Json(*account.out_of_memory) : Json(nullptr)},
            {"holders_at", account.out_of_memory ? "out-of-memory" : "peak"},
            {"holders", ListJson(account.holders, HolderJson)},
            {"worth_a_look", account.remarks}};
  json.update(Json(account.moments));
  return json;
}

Json GroupJson(const FindingGroup& group) {
  return Json{{"check", group.first.check},   {"severity", group.first.severity},
              {"count", group.count()},       {"message", group.first.message},
              {"advice", group.first.advice}, {"bytes", group.first.bytes}};
}

Json GraphJson(const GraphSummary& graph) {
  Json json{{"id", graph.graph}};
  GRAPHKIT_ADD_MEMBERS(json, graph, name, nodes, launches, destroyed, blocks, peak_live_bytes,
                       deferred_bytes, never_freed_bytes, lower_bound_bytes);
  return json;
}

}  // namespace

Json PlacedHolderJson(const HeldGroup& group) {
  Json json = HolderJson(group);
  json["place"] = group.place;
  json["function"] = group.function;
  return json;
}

Json MemoryJson(const std::vector<MemoryAccount>& memory) { return ListJson(memory, DeviceJson); }

void RenderExplanationJson(const Explanation& explanation, std::ostream& out) {
  const std::string& unknown = explanation.unknown_memory;
  WriteDocument("graphkit-explain",
                Json{{"file", explanation.file},
                     {"kind", explanation.about.kind},
                     {"what", explanation.about.what},
                     {"facts", explanation.about.facts},
                     {"unknown_memory", unknown.empty() ? Json(nullptr) : Json(unknown)},
                     {"devices", ListJson(explanation.memory, DeviceJson)},
                     {"findings", ListJson(explanation.findings, GroupJson)},
                     {"graphs", ListJson(explanation.graphs, GraphJson)},
                     {"next", explanation.about.next}},
                out);
}

}  // namespace graphkit
