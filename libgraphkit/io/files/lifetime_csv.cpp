#include "libgraphkit/io/files/plan_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/csv_reader.h"
#include "libgraphkit/io/bytes/file_bytes.h"

namespace graphkit {
namespace {

constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
enum Column : size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset };

template <typename T>
bool Number(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

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
    if ((column >= kAlignment && field->empty()) || Number(*field, out)) return true;
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

}  // namespace

Result<LifetimeTable> ParseLifetimeCsv(std::string_view text) { return TableReader(text).Run(); }

Result<LifetimeTable> ReadLifetimeCsv(const std::string& path) {
  const Result<FileBytes> file = ReadFile(path);
  if (!file) return file.error();
  Result<LifetimeTable> table = ParseLifetimeCsv(file->text);
  if (!table) table.error().file = path;
  return table;
}

}  // namespace graphkit
