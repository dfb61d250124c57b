#include "libgraphkit/io/files/plan_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

std::string At(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

void ReadSequence(JsonObject& object, PlannedMemory& plan) {
  for (const auto& entry : object.Array("sequence")) {
    const auto id =
        entry.is_number_unsigned() ? ToId<GraphId>(entry.get<uint64_t>()) : std::nullopt;
    if (!id)
      object.Fail({.message = At("sequence", plan.sequence.size()) + " is no id of a graph"});
    plan.sequence.push_back(id.value_or(GraphId()));
  }
}

void ReadArenas(JsonObject& object, PlannedMemory& plan) {
  std::set<std::pair<GraphId, PoolId>> met;
  plan.arenas = object.List(object.Array("arenas"), "arenas", [&](JsonObject& entry) {
    const PlannedArena arena{entry.OptionalId<GraphId>("graph"), entry.OptionalId<PoolId>("pool"),
                             entry.Count("blocks"), entry.Memory("peak_bytes"),
                             entry.Memory("lower_bound_bytes")};
    if (arena.lower_bound > arena.peak) entry.Fail("lower_bound_bytes", "is above peak_bytes");
    const bool shared = !plan.sequence.empty();
    if (shared && arena.graph) entry.Fail("graph", "isn't null, though the plan has a sequence");
    if (!shared && !arena.graph) entry.Fail("graph", "is missing");
    if (!met.emplace(arena.graph, arena.pool).second) {
      entry.Fail("pool", "is that of another arena of the same graph");
    }
    plan.peak += arena.peak;
    plan.lower_bound += arena.lower_bound;
    if (plan.peak > kMostMemory) {
      entry.Fail({.message = "the arenas are more memory than there can be"});
    }
    return arena;
  });
}

void ReadPlacements(JsonObject& object, PlannedMemory& plan) {
  plan.placements = object.List(object.Array("placements"), "placements", [&](JsonObject& entry) {
    const Placement one{entry.Index("block"), entry.Index("arena"), entry.Memory("offset"),
                        entry.Memory("size")};
    if (one.arena >= plan.arenas.size()) {
      entry.Fail("arena", "is of an arena that isn't there");
    } else if (one.offset + one.size > plan.arenas[one.arena].peak) {
      entry.Fail("offset", "puts the block beyond its arena's peak_bytes");
    }
    return one;
  });
}

// In their order, within their arenas, none over another. `reached`: the end of the range before,
// in its arena.
BorrowedRange ReadRange(JsonObject& entry, const PlannedMemory& plan,
                        std::pair<uint32_t, Bytes>* reached) {
  const BorrowedRange one{entry.Index("arena"), entry.Memory("offset"), entry.Memory("size")};
  if (one.arena >= plan.arenas.size()) {
    entry.Fail("arena", "is of an arena that isn't there");
  } else if (one.offset + one.size > plan.arenas[one.arena].peak) {
    entry.Fail("offset", "puts the range beyond its arena's peak_bytes");
  } else if (std::pair(one.arena, one.offset) < *reached) {
    entry.Fail("offset", "is before the end of the range before it");
  }
  *reached = {one.arena, one.offset + one.size};
  return one;
}

void ReadBorrow(JsonObject& object, PlannedMemory& plan) {
  if (object.Find("borrow") == nullptr) return;
  std::pair<uint32_t, Bytes> reached;
  plan.borrow = object.List(object.Array("borrow"), "borrow",
                            [&](JsonObject& entry) { return ReadRange(entry, plan, &reached); });
}

void ReadBorrowAt(JsonObject& object, PlannedMemory& plan) {
  if (object.Find("borrow_at") == nullptr) return;
  std::pair<uint32_t, Bytes> reached;
  plan.borrow_at = object.List(object.Array("borrow_at"), "borrow_at", [&](JsonObject& entry) {
    const BorrowAt one{.range = ReadRange(entry, plan, &reached),
                       .at = entry.OptionalId<NodeId>("at"),
                       .until = entry.OptionalId<NodeId>("until"),
                       .last = entry.OptionalId<NodeId>("last")};
    if (!one.at) entry.Fail("at", "is missing");
    return one;
  });
}

// Each arena has the blocks that it counts, and is as large as they make it.
void CheckArenas(JsonObject& object, const PlannedMemory& plan) {
  std::vector<uint64_t> blocks(plan.arenas.size());
  std::vector<Bytes> tops(plan.arenas.size());
  for (const Placement& placement : plan.placements) {
    ++blocks[placement.arena];
    Bytes& top = tops[placement.arena];
    top = std::max(top, placement.offset + placement.size);
  }
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    const PlannedArena& arena = plan.arenas[i];
    if (blocks[i] != arena.blocks) {
      object.Fail({.message = At("arenas", i) + " has " + std::to_string(arena.blocks) +
                              " blocks, but " + std::to_string(blocks[i]) + " are placed in it"});
    } else if (tops[i] != arena.peak) {
      object.Fail({.message = At("arenas", i) + " has peak_bytes " + std::to_string(arena.peak) +
                              ", but its highest block ends at " + std::to_string(tops[i])});
    }
  }
}

PlannedMemory ReadPlanned(JsonObject& object) {
  PlannedMemory plan;
  ExpectSchema(object, "graphkit-plan", 1);
  plan.of_trace = object.OptionalString("source") == "trace";
  if (!plan.of_trace) object.Fail("source", "is not \"trace\": it is a plan of a table");
  ReadSequence(object, plan);
  ReadArenas(object, plan);
  ReadPlacements(object, plan);
  ReadBorrow(object, plan);
  ReadBorrowAt(object, plan);
  if (!object.failed()) CheckArenas(object, plan);
  return plan;
}

}  // namespace

Result<PlannedMemory> ReadPlan(const std::string& path) { return ReadWith(ParsePlan, path); }

Result<PlannedMemory> ParsePlan(const std::string& text, const std::string& file) {
  auto plan = ParseJsonFile(text, file, ReadPlanned, "the plan", JsonObject::Keys::kAny);
  if (!plan) plan.error().hint = "write a plan with graphkit plan trace.json -o plan.json";
  return plan;
}

}  // namespace graphkit
