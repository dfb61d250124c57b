#include "libgraphkit/io/files/plan_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/file_bytes.h"

namespace graphkit {
namespace {

constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
enum Column : size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset };

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t'))
      field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
    fields.push_back(field);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <typename T>
bool Number(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

class TableReader {
 public:
  Result<LifetimeTable> Run(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      if (line.empty()) continue;
      const bool read = places_.empty() ? Header(line) : Row(line);
      if (!read) return error_;
    }
    if (places_.empty()) return Error{.message = "the table is empty"};
    if (!error_.message.empty()) return error_;
    return std::move(table_);
  }

 private:
  bool Fail(std::string message) {
    error_ = {.message = std::move(message),
              .hint = "a table of lifetimes has the columns id,lower,upper,size",
              .line = line_};
    return false;
  }

  bool Header(std::string_view line) {
    const std::vector<std::string_view> names = Fields(line);
    places_.resize(kColumns.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const auto column = std::find(kColumns.begin(), kColumns.end(), names[i]);
      if (column != kColumns.end()) places_[static_cast<size_t>(column - kColumns.begin())] = i;
    }
    for (const Column column : {kLower, kUpper, kSize}) {
      if (!places_[column]) return Fail("no column '" + std::string(kColumns[column]) + "'");
    }
    return true;
  }

  template <typename T>
  bool Field(const std::vector<std::string_view>& fields, Column column, T* out) {
    if (!places_[column]) return true;
    if (*places_[column] >= fields.size()) return Fail("the row has too few fields");
    if (column >= kAlignment && fields[*places_[column]].empty()) return true;
    if (Number(fields[*places_[column]], out)) return true;
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

  bool Row(std::string_view line) {
    const std::vector<std::string_view> fields = Fields(line);
    PlanBlock block;
    Lifetime life;
    const bool read = Field(fields, kLower, &life.begin) && Field(fields, kUpper, &life.end) &&
                      Field(fields, kSize, &block.size) &&
                      Field(fields, kAlignment, &block.alignment) &&
                      Field(fields, kOffset, &block.fixed);
    if (!read) return false;
    if (life.end < life.begin) return Fail("the lifetime ends before it begins");
    if (block.alignment == 0) return Fail("an alignment of 0");
    if (!InBounds(block)) return false;
    const bool named = places_[kId] && *places_[kId] < fields.size();
    table_.ids.push_back(named ? std::string(fields[*places_[kId]])
                               : std::to_string(table_.ids.size()));
    table_.problem.blocks.push_back(block);
    table_.problem.lifetimes.push_back(life);
    return true;
  }

  LifetimeTable table_;
  std::vector<std::optional<size_t>> places_;  // of kColumns, in the file
  MemorySum total_;                            // of sizes and alignments
  uint64_t line_ = 0;
  Error error_;
};

}  // namespace

Result<LifetimeTable> ParseLifetimeCsv(std::string_view text) { return TableReader().Run(text); }

Result<LifetimeTable> ReadLifetimeCsv(const std::string& path) {
  Result<MappedFile> file = MappedFile::Open(path);
  if (!file) return file.error();
  Result<LifetimeTable> table = ParseLifetimeCsv(file->bytes());
  if (!table) table.error().file = path;
  return table;
}

}  // namespace graphkit
