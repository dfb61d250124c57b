#include "libgraphkit/io/files/plan_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

using PlanJson = nlohmann::json;

std::string At(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

class PlanParser {
 public:
  PlanParser(const PlanJson& json, const std::string& file)
      : file_(file), object_(json, "the plan") {}

  Result<PlannedMemory> Run() {
    const auto steps = {&PlanParser::ReadHead, &PlanParser::ReadSequence, &PlanParser::ReadArenas,
                        &PlanParser::ReadPlacements, &PlanParser::CheckArenas};
    for (const auto step : steps) {
      Result<void> ok = (this->*step)();
      if (ok) ok = object_.Checked(file_);
      if (!ok) return WithHint(ok.error());
    }
    return std::move(plan_);
  }

 private:
  static Error WithHint(Error error) {
    if (error.hint.empty()) error.hint = "write a plan with graphkit plan trace.json -o plan.json";
    return error;
  }

  Error Bad(std::string message) const { return {.message = std::move(message), .file = file_}; }

  Result<void> ReadHead() {
    ExpectSchema(object_, "graphkit-plan", 1);
    plan_.of_trace = object_.OptionalString("source") == "trace";
    if (!plan_.of_trace) object_.Fail("source", "is not \"trace\": it is a plan of a table");
    return {};
  }

  Result<void> ReadSequence() {
    const PlanJson& list = object_.Array("sequence");
    for (size_t i = 0; i < list.size(); ++i) {
      const auto id =
          list[i].is_number_unsigned() ? ToId<GraphId>(list[i].get<uint64_t>()) : std::nullopt;
      if (!id) return Bad(At("sequence", i) + " is no id of a graph");
      plan_.sequence.push_back(*id);
    }
    return {};
  }

  Result<void> ReadArenas() {
    const PlanJson& list = object_.Array("arenas");
    std::set<std::pair<GraphId, PoolId>> met;
    for (size_t i = 0; i < list.size(); ++i) {
      JsonObject object(list[i], At("arenas", i));
      const PlannedArena arena{object.OptionalId<GraphId>("graph"),
                               object.OptionalId<PoolId>("pool"), object.Count("blocks"),
                               object.Memory("peak_bytes"), object.Memory("lower_bound_bytes")};
      if (arena.lower_bound > arena.peak) object.Fail("lower_bound_bytes", "is above peak_bytes");
      const bool shared = !plan_.sequence.empty();
      if (shared && arena.graph) object.Fail("graph", "isn't null, though the plan has a sequence");
      if (!shared && !arena.graph) object.Fail("graph", "is missing");
      if (!met.emplace(arena.graph, arena.pool).second) {
        object.Fail("pool", "is that of another arena of the same graph");
      }
      if (Result<void> ok = object.Checked(file_); !ok) return ok;
      plan_.arenas.push_back(arena);
      plan_.peak += arena.peak;
      plan_.lower_bound += arena.lower_bound;
      if (plan_.peak > kMostMemory) return Bad("the arenas are more memory than there can be");
    }
    return {};
  }

  Result<void> ReadPlacements() {
    const PlanJson& list = object_.Array("placements");
    for (size_t i = 0; i < list.size(); ++i) {
      JsonObject object(list[i], At("placements", i));
      const Placement one{object.Index("block"), object.Index("arena"), object.Memory("offset"),
                          object.Memory("size")};
      if (one.arena >= plan_.arenas.size()) {
        object.Fail("arena", "is of an arena that isn't there");
      } else if (one.offset + one.size > plan_.arenas[one.arena].peak) {
        object.Fail("offset", "puts the block beyond its arena's peak_bytes");
      }
      if (Result<void> ok = object.Checked(file_); !ok) return ok;
      plan_.placements.push_back(one);
    }
    return {};
  }

  Result<void> CheckArenas() {
    std::vector<uint64_t> blocks(plan_.arenas.size());
    std::vector<Bytes> tops(plan_.arenas.size());
    for (const Placement& placement : plan_.placements) {
      ++blocks[placement.arena];
      Bytes& top = tops[placement.arena];
      top = std::max(top, placement.offset + placement.size);
    }
    for (size_t i = 0; i < plan_.arenas.size(); ++i) {
      const PlannedArena& arena = plan_.arenas[i];
      if (blocks[i] != arena.blocks) {
        return Bad(At("arenas", i) + " has " + std::to_string(arena.blocks) + " blocks, but " +
                   std::to_string(blocks[i]) + " are placed in it");
      }
      if (tops[i] != arena.peak) {
        return Bad(At("arenas", i) + " has peak_bytes " + std::to_string(arena.peak) +
                   ", but its highest block ends at " + std::to_string(tops[i]));
      }
    }
    return {};
  }

  const std::string& file_;
  JsonObject object_;
  PlannedMemory plan_;
};

}  // namespace

Result<PlannedMemory> ReadPlan(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  return ParsePlan(*text, path);
}

Result<PlannedMemory> ParsePlan(const std::string& text, const std::string& file) {
  const Result<PlanJson> json = ParseJson(text, file);
  if (!json) return json.error();
  return PlanParser(*json, file).Run();
}

}  // namespace graphkit
