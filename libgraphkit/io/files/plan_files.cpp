#include "libgraphkit/io/files/plan_files.h"

#include <map>
#include <set>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/bytes/csv_reader.h"
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

constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
enum Column : size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset };

class TableReader {
 public:
  explicit TableReader(std::string_view text) : rows_(text, kColumns) {}

  Result<LifetimeTable> Run() {
    if (rows_.line() == 0) return Error{.message = "the table is empty"};
    for (const Column column : {kLower, kUpper, kSize}) {
      if (!rows_.has_column(column)) {
        Fail("no column '" + std::string(kColumns[column]) + "'");
        return error_;
      }
    }
    while (rows_.Next()) {
      if (!Row()) return error_;
    }
    if (!FixedApart()) return error_;
    return std::move(table_);
  }

 private:
  bool Fail(std::string message) {
    error_ = {.message = std::move(message),
              .hint = "a table of lifetimes has the columns id,lower,upper,size",
              .line = rows_.line()};
    return false;
  }

  template <typename T>
  bool Field(Column column, T* out) {
    const std::string_view* field = rows_.Find(column);
    if (!rows_.has_column(column)) return true;
    if (!field) return Fail("the row has too few fields");
    if (column >= kAlignment && field->empty()) return true;
    if (const auto number = ParseNumber<T>(*field)) return *out = *number, true;
    return Fail("'" + std::string(kColumns[column]) + "' isn't a number that is allowed there");
  }

  // Neither an offset nor the end of a block can wrap, wherever blocks are put.
  bool InBounds(const PlanBlock& block) {
    if (block.size > kLargestMemory) return Fail("a size of more than 2^56 bytes");
    if (block.alignment > kLargestMemory) return Fail("an alignment of more than 2^56 bytes");
    if (block.fixed != PlanBlock::kAnywhere && block.fixed > kMostMemory) {
      return Fail("an offset of more than 2^62 bytes");
    }
    if (total_.Add(block.size) && total_.Add(block.alignment)) return true;
    return Fail("all sizes and alignments together are more than 2^62 bytes");
  }

  bool Row() {
    PlanBlock block;
    Lifetime life;
    const bool read = Field(kLower, &life.begin) && Field(kUpper, &life.end) &&
                      Field(kSize, &block.size) && Field(kAlignment, &block.alignment) &&
                      Field(kOffset, &block.fixed);
    if (!read) return false;
    if (life.end < life.begin) return Fail("the lifetime ends before it begins");
    if (block.alignment == 0) return Fail("an alignment of 0");
    if (!InBounds(block)) return false;
    const std::string_view* id = rows_.Find(kId);
    table_.ids.push_back(id ? std::string(*id) : std::to_string(table_.ids.size()));
    table_.problem.blocks.push_back(block);
    table_.problem.lifetimes.push_back(life);
    return true;
  }

  // Blocks whose offsets are given don't overlap while both are needed.
  bool FixedApart() {
    const std::vector<PlanBlock>& blocks = table_.problem.blocks;
    const std::vector<Lifetime>& lives = table_.problem.lifetimes;
    std::vector<uint32_t> births;
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      const bool fixed = blocks[i].fixed != PlanBlock::kAnywhere;
      if (fixed && blocks[i].size > 0 && !lives[i].empty()) births.push_back(i);
    }
    std::vector<uint32_t> deaths = births;
    std::ranges::sort(births, {}, [&](uint32_t i) { return lives[i].begin; });
    std::ranges::sort(deaths, {}, [&](uint32_t i) { return lives[i].end; });
    const auto end = [&](uint32_t i) { return blocks[i].fixed + blocks[i].size; };
    std::map<Bytes, uint32_t> there;  // by offset
    auto dead = deaths.begin();
    for (const uint32_t i : births) {
      for (; lives[*dead].end <= lives[i].begin; ++dead) there.erase(blocks[*dead].fixed);
      const auto above = there.lower_bound(blocks[i].fixed);
      if (above != there.end() && above->first < end(i)) return FailFixed(above->second, i);
      if (above != there.begin() && end(std::prev(above)->second) > blocks[i].fixed) {
        return FailFixed(std::prev(above)->second, i);
      }
      there.emplace(blocks[i].fixed, i);
    }
    return true;
  }
  bool FailFixed(uint32_t one, uint32_t other) {
    error_ = {.message = "blocks '" + table_.ids[std::min(one, other)] + "' and '" +
                         table_.ids[std::max(one, other)] +
                         "' have offsets at which they overlap while both are needed",
              .hint = "correct their offset, or leave it empty"};
    return false;
  }

  CsvReader rows_;
  LifetimeTable table_;
  MemorySum total_;  // of sizes and alignments
  Error error_;
};

using Json = nlohmann::json;

constexpr uint64_t kMostRequests = 1'000'000'000;  // of all sizes, and the largest size
constexpr std::array<std::string_view, 2> kHistogramColumns = {"size", "count"};

uint64_t HistogramNumber(const std::string_view* text) {
  return text ? ParseNumber<uint64_t>(*text).value_or(~uint64_t{0}) : ~uint64_t{0};
}

}  // namespace

Result<PlannedMemory> ReadPlan(const std::string& path) { return ReadWith(ParsePlan, path); }

Result<PlannedMemory> ParsePlan(const std::string& text, const std::string& file) {
  auto plan = ParseJsonFile(text, file, ReadPlanned, "the plan", JsonObject::Keys::kAny);
  if (!plan) plan.error().hint = "write a plan with graphkit plan trace.json -o plan.json";
  return plan;
}

Result<LifetimeTable> ParseLifetimeCsv(std::string_view text) { return TableReader(text).Run(); }

Result<LifetimeTable> ReadLifetimeCsv(const std::string& path) {
  const Result<FileBytes> file = ReadFile(path);
  if (!file) return file.error();
  Result<LifetimeTable> table = ParseLifetimeCsv(file->text);
  if (!table) table.error().file = path;
  return table;
}

Result<std::vector<SizeCount>> ParseHistogram(const std::string& text, const std::string& file) {
  Error error{.hint = "write size,count and below it lines such as 8,1200", .file = file};
  std::map<uint64_t, uint64_t> counts;
  uint64_t total = 0;
  CsvReader rows(text, kHistogramColumns);
  while (rows.has_all_columns() && rows.Next()) {
    const uint64_t size = HistogramNumber(rows.Find(0)), count = HistogramNumber(rows.Find(1));
    if (size == 0 || size > kMostRequests || count > kMostRequests - total) {
      error.message = "no size, or no count; sizes, and all counts together, are at most 10^9";
      error.line = rows.line();
      return error;
    }
    total += count;
    if (count > 0) counts[size] += count;
  }
  error.message = rows.has_all_columns() ? "no requests in it" : "no columns size and count";
  if (counts.empty()) return error;
  std::vector<SizeCount> sizes;
  for (const auto& [size, count] : counts) sizes.push_back({size, count});
  return sizes;
}

}  // namespace graphkit
