#include "libgraphkit/render/plan/plan.h"

#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

GRAPHKIT_JSON_OF(BorrowedRange, arena, offset, size)

namespace {

Json ArenaJson(const PlannedArena& arena) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, arena, graph, pool, blocks);
  json["peak_bytes"] = arena.peak;
  json["lower_bound_bytes"] = arena.lower_bound;
  return json;
}

Json PlacementJson(const PlannedMemory& plan, const Placement& placement) {
  return Json{{"block", plan.of_trace ? Json(placement.block) : Json(plan.names[placement.block])},
              {"arena", placement.arena},
              {"offset", placement.offset},
              {"size", placement.size}};
}

Json SharedBytesJson(const PlannedMemory& plan, const SharedBytes& shared) {
  const auto nodes = [&plan](Slice slice) {
    const auto first = plan.proof_nodes.begin() + slice.first;
    return std::vector<NodeId>(first, first + slice.count);
  };
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, shared, earlier, later, arena, offset, size);
  json["why"] = shared.exclusive ? "exclusive" : "ordered";
  json["ends"] = nodes(shared.ends);
  json["starts"] = nodes(shared.starts);
  json["assumes"] = shared.assumes;
  return json;
}

Json BorrowedAtJson(const BorrowAt& one) {
  Json json = one.range;
  GRAPHKIT_ADD_MEMBERS(json, one, at, last, until);
  return json;
}

// One line each: there may be a million of them.
template <typename List, typename ToJson>
void RenderLines(const char* key, const List& list, ToJson to_json, std::ostream& out) {
  out << "  \"" << key << "\": [";
  const char* before = "\n    ";
  for (const auto& item : list) {
    out << before << Dump(to_json(item));
    before = ",\n    ";
  }
  out << "\n  ]";
}

// Absent unless the graphs share their arenas.
std::string SequenceText(const PlannedMemory& plan) {
  if (plan.sequence.empty()) return "";
  return "  \"sequence\": " + Json(plan.sequence).dump() + ",\n";
}

}  // namespace

std::string RatioText(Bytes bytes, Bytes bound) {
  if (bytes == bound || bound == 0) return "1";
  return Formatted("%.4f", static_cast<double>(bytes) / static_cast<double>(bound));
}

void RenderPlanText(const PlannedMemory& plan, std::ostream& out) {
  TextRows rows = {
      {"blocks", FormatCount(plan.placements.size())},
      {"peak", FormatBytes(plan.peak) + " (" + FormatCount(plan.peak) + " B)"},
      {"lower bound", FormatBytes(plan.lower_bound) + " (" + FormatCount(plan.lower_bound) + " B)"},
      {"gap", plan.optimal() ? "none: no plan is smaller"
                             : FormatBytes(plan.peak - plan.lower_bound) + ", " +
                                   RatioText(plan.peak, plan.lower_bound) + " × the bound"}};
  if (plan.of_trace) {
    Bytes bytes = 0;
    for (const SharedBytes& shared : plan.shared) bytes += shared.size;
    rows.push_back({"taken over", FormatBytes(bytes) + " in " +
                                      Counted(plan.shared.size(), "piece") +
                                      ", each with its proof in the plan"});
  }
  if (!plan.sequence.empty()) {
    rows.push_back({"launches", FormatCount(plan.sequence.size()) +
                                    " in a round, one after the other, share the memory"});
    rows.push_back({"outputs", "kept until their last taker, or their own graph, runs"});
  } else if (plan.arenas.size() > 1) {
    rows.push_back({"graphs", "all at once, each with memory of its own"});
  }
  if (plan.capacity) {
    const std::string what = FormatBytes(*plan.capacity);
    rows.push_back({"capacity", plan.fits() ? what + ": fits"
                                            : what + ": too small by " +
                                                  FormatBytes(plan.peak - *plan.capacity)});
    if (plan.lower_bound > *plan.capacity) rows.back()[1] += "; no plan fits";
  }
  out << Table(rows, "ll", "");
}

void RenderPlanJson(const PlannedMemory& plan, std::ostream& out) {
  out << "{\n  \"schema\": \"graphkit-plan\",\n  \"version\": 1,\n"
      << "  \"source\": \"" << (plan.of_trace ? "trace" : "lifetimes") << "\",\n"
      << "  \"peak_bytes\": " << plan.peak << ",\n"
      << "  \"lower_bound_bytes\": " << plan.lower_bound << ",\n"
      << "  \"optimal\": " << (plan.optimal() ? "true" : "false") << ",\n"
      << "  \"capacity_bytes\": " << Json(plan.capacity) << ",\n"
      << "  \"fits\": " << (plan.fits() ? "true" : "false") << ",\n"
      << SequenceText(plan);
  RenderLines("arenas", plan.arenas, ArenaJson, out);
  out << ",\n";
  const auto placement = [&plan](const Placement& of) { return PlacementJson(plan, of); };
  RenderLines("placements", plan.placements, placement, out);
  if (plan.of_trace) {
    out << ",\n";
    const auto shared = [&plan](const SharedBytes& of) { return SharedBytesJson(plan, of); };
    RenderLines("shared", plan.shared, shared, out);
  }
  if (plan.borrow) {
    out << ",\n";
    RenderLines(
        "borrow", *plan.borrow, [](const BorrowedRange& of) { return Json(of); }, out);
  }
  if (!plan.borrow_at.empty()) {
    out << ",\n";
    RenderLines("borrow_at", plan.borrow_at, BorrowedAtJson, out);
  }
  out << "\n}\n";
}

}  // namespace graphkit
