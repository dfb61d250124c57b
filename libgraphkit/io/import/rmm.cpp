#include "libgraphkit/io/import/formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/trace_maker.h"

namespace graphkit {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 24 * 3600 * kSecond;

enum Column : size_t { kThread, kTime, kAction, kPointer, kSize, kStream, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"Thread",  "Time", "Action",
                                                           "Pointer", "Size", "Stream"};
using Row = std::array<std::string_view, kColumns>;

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (field.starts_with(' ')) field.remove_prefix(1);
    while (field.ends_with(' ')) field.remove_suffix(1);
    fields.push_back(field);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Decimal, or hexadecimal with 0x.
std::optional<uint64_t> Number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// "14:03:07.123456", with a colon or a point before the fraction; ns since midnight.
std::optional<int64_t> TimeOfDay(std::string_view text) {
  std::array<int64_t, 4> parts = {};
  size_t part = 0;
  size_t digits = 0;
  for (const char c : text) {
    if (c == ':' || c == '.') {
      if (digits == 0 || ++part == parts.size()) return std::nullopt;
      digits = 0;
    } else if (c >= '0' && c <= '9' && digits < 9) {
      parts[part] = parts[part] * 10 + (c - '0');
      ++digits;
    } else {
      return std::nullopt;
    }
  }
  if (part < 2 || digits == 0 || parts[0] > 24 || parts[1] > 60 || parts[2] > 61) {
    return std::nullopt;
  }
  for (size_t i = digits; part == 3 && i < 9; ++i) parts[3] *= 10;
  return (parts[0] * 3600 + parts[1] * 60 + parts[2]) * kSecond + (part == 3 ? parts[3] : 0);
}

class LogReader {
 public:
  Result<Imported> Run(std::string_view text) {
    if (!Header(TakeLine(text))) {
      return Error{.message = "not a log of RMM: its first line lacks columns",
                   .hint = "the columns are Thread,Time,Action,Pointer,Size,Stream",
                   .line = 1};
    }
    pool_ = make_.AddPool(PoolKind::kAllocator, "RMM");
    while (!text.empty()) {
      const std::string_view line = TakeLine(text);
      if (!line.empty()) Take(line);
    }
    return Finish();
  }

 private:
  bool Header(std::string_view line) {
    const std::vector<std::string_view> fields = Fields(line);
    for (size_t column = 0; column < kColumns; ++column) {
      const auto at = std::ranges::find(fields, kNames[column]);
      if (at == fields.end()) return false;
      places_[column] = static_cast<size_t>(at - fields.begin());
      width_ = std::max(width_, places_[column] + 1);
    }
    return true;
  }

  void Take(std::string_view line);
  void Allocate(uint64_t pointer, Bytes size, uint64_t stream);
  void Deallocate(uint64_t pointer, uint64_t stream);
  void Fail(std::string_view thread, uint64_t stream);
  void SetTime(std::string_view text);
  Result<Imported> Finish();

  std::array<size_t, kColumns> places_ = {};
  size_t width_ = 0;
  TraceMaker make_;
  PoolId pool_;
  std::unordered_map<uint64_t, BlockId> live_;
  size_t rows_ = 0;
  size_t skipped_ = 0;
  size_t unknown_frees_ = 0;
  size_t failures_ = 0;
  bool has_times_ = false;
  int64_t days_ = 0;
  int64_t last_time_ = 0;
};

void LogReader::SetTime(std::string_view text) {
  const std::optional<int64_t> time = TimeOfDay(text);
  if (!time) return;
  if (*time + kDay / 2 < last_time_) ++days_;  // past midnight
  last_time_ = *time;
  if (!has_times_) make_.SetBegin(kDay + *time, false);
  has_times_ = true;
  make_.SetTime(kDay * (days_ + 1) + *time);
}

void LogReader::Take(std::string_view line) {
  const std::vector<std::string_view> fields = Fields(line);
  Row row;
  if (fields.size() < width_) return ++skipped_, void();
  for (size_t column = 0; column < kColumns; ++column) row[column] = fields[places_[column]];
  const std::optional<uint64_t> pointer = Number(row[kPointer]);
  const std::optional<uint64_t> size = Number(row[kSize]);
  const uint64_t stream = Number(row[kStream]).value_or(0);
  if (row[kAction] == "allocate failure") {
    Fail(row[kThread], stream);
  } else if (!pointer || !size) {
    return ++skipped_, void();
  } else if (row[kAction] == "allocate") {
    Allocate(*pointer, *size, stream);
  } else if (row[kAction] == "deallocate" || row[kAction] == "free") {
    Deallocate(*pointer, stream);
  } else {
    return ++skipped_, void();
  }
  ++rows_;
  SetTime(row[kTime]);
}

void LogReader::Allocate(uint64_t pointer, Bytes size, uint64_t stream) {
  Block block;
  block.address = pointer;
  block.size = size;
  block.pool = pool_;
  block.stream = make_.Stream(0, stream);
  const BlockId id = make_.AddBlock(block);
  const auto [at, added] = live_.insert_or_assign(pointer, id);
  if (!added) ++unknown_frees_;  // what lay there was freed without a row
}

void LogReader::Deallocate(uint64_t pointer, uint64_t stream) {
  const StreamId on = make_.Stream(0, stream);
  const auto at = live_.find(pointer);
  if (at == live_.end()) {
    make_.Next();
    ++unknown_frees_;
    return;
  }
  make_.Free(at->second, on);
  live_.erase(at);
}

void LogReader::Fail(std::string_view thread, uint64_t stream) {
  Failure failure;
  failure.call = make_.Intern("rmm allocate");
  failure.error = kErrorMemoryAllocation;
  failure.thread = make_.Thread(static_cast<int64_t>(Number(thread).value_or(0)));
  failure.stream = make_.Stream(0, stream);
  failure.seq = make_.Next();
  make_.trace.failures.push_back(failure);
  ++failures_;
}

Result<Imported> LogReader::Finish() {
  if (skipped_ > 0) make_.Note(CountOf(skipped_, "row") + " of the log could not be read");
  if (unknown_frees_ > 0) {
    make_.Note("the log lacks the other end of " + CountOf(unknown_frees_, "allocation") +
               " or free" + (unknown_frees_ == 1 ? "" : "s"));
  }
  Imported imported;
  imported.trace = std::move(make_.trace);
  imported.summary.push_back(
      CountOf(rows_, "row") + ", " + CountOf(imported.trace.blocks.size(), "allocation") + ", " +
      FormatCount(live_.size()) + " never freed, " + FormatCount(failures_) + " failed");
  return imported;
}

}  // namespace

bool IsRmmLog(std::string_view head) {
  const std::vector<std::string_view> fields = Fields(TakeLine(head));
  return std::ranges::all_of(kNames, [&](std::string_view name) {
    return std::ranges::find(fields, name) != fields.end();
  });
}

Result<Imported> ReadRmmLog(std::string_view bytes) { return LogReader().Run(bytes); }

}  // namespace graphkit
