#include "libgraphkit/io/import/file_format.h"

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/csv_reader.h"

namespace graphkit {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 24 * 3600 * kSecond;

struct LogColumn {
  enum : size_t { kThread, kTime, kAction, kPointer, kSize, kStream, kColumns };
};
constexpr std::array<std::string_view, LogColumn::kColumns> kLogColumns = {
    "Thread", "Time", "Action", "Pointer", "Size", "Stream"};

// Decimal, or hexadecimal with 0x.
std::optional<uint64_t> Number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  return ParseNumber<uint64_t>(text, hex ? 16 : 10);
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
  explicit LogReader(std::string_view text) : rows_(text, kLogColumns) {}

  Result<Imported> Run() {
    if (!rows_.has_all_columns()) {
      return Error{.message = "not a log of RMM: its first line lacks columns",
                   .hint = "the columns are Thread,Time,Action,Pointer,Size,Stream",
                   .line = 1};
    }
    pool_ = make_.AddPool(PoolKind::kAllocator, "RMM");
    while (rows_.Next()) Take();
    return Finish();
  }

 private:
  void Take() {
    std::array<std::string_view, LogColumn::kColumns> row;
    for (size_t column = 0; column < LogColumn::kColumns; ++column) {
      const std::string_view* field = rows_.Find(column);
      if (!field) return ++skipped_, void();
      row[column] = *field;
    }
    const std::optional<uint64_t> pointer = Number(row[LogColumn::kPointer]);
    const std::optional<uint64_t> size = Number(row[LogColumn::kSize]);
    const uint64_t stream = Number(row[LogColumn::kStream]).value_or(0);
    if (row[LogColumn::kAction] == "allocate failure") {
      Fail(row[LogColumn::kThread], stream);
    } else if (!pointer || !size) {
      return ++skipped_, void();
    } else if (row[LogColumn::kAction] == "allocate") {
      const StreamId on = make_.Stream(0, stream);
      make_.AllocateAt({.address = *pointer, .size = *size, .pool = pool_, .stream = on});
    } else if (row[LogColumn::kAction] == "deallocate" || row[LogColumn::kAction] == "free") {
      make_.FreeAt(*pointer, make_.Stream(0, stream));
    } else {
      return ++skipped_, void();
    }
    ++read_;
    SetTime(row[LogColumn::kTime]);
  }

  void Fail(std::string_view thread, uint64_t stream) {
    make_.trace.failures.push_back(
        {.call = make_.Intern("rmm allocate"),
         .error = kErrorMemoryAllocation,
         .thread = make_.Thread(static_cast<int64_t>(Number(thread).value_or(0))),
         .stream = make_.Stream(0, stream),
         .seq = make_.Next()});
    ++failures_;
  }

  void SetTime(std::string_view text) {
    const std::optional<int64_t> time = TimeOfDay(text);
    if (!time) return;
    if (*time + kDay / 2 < last_time_) ++days_;  // past midnight
    last_time_ = *time;
    if (!has_times_) make_.SetBegin(kDay + *time, false);
    has_times_ = true;
    make_.SetTime(kDay * (days_ + 1) + *time);
  }

  Result<Imported> Finish() {
    if (skipped_ > 0) make_.Note(Counted(skipped_, "row") + " of the log could not be read");
    make_.NoteUnmatched("the log");
    return make_.Finish(
        Counted(read_, "row") + ", " + Counted(make_.trace.blocks.size(), "allocation") + ", " +
        FormatCount(make_.live()) + " never freed, " + FormatCount(failures_) + " failed");
  }

  CsvReader rows_;
  TraceMaker make_;
  PoolId pool_;
  size_t read_ = 0;
  size_t skipped_ = 0;
  size_t failures_ = 0;
  bool has_times_ = false;
  int64_t days_ = 0;
  int64_t last_time_ = 0;
};

}  // namespace

bool IsRmmLog(std::string_view head) { return CsvReader(head, kLogColumns).has_all_columns(); }

Result<Imported> ReadRmmLog(std::string_view bytes) { return LogReader(bytes).Run(); }

}  // namespace graphkit
