#include <array>
#include <map>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/bytes/csv_reader.h"
#include "libgraphkit/io/files/plan_files.h"

namespace graphkit {
namespace {

constexpr uint64_t kMostRequests = 1'000'000'000;  // of all sizes, and the largest size
constexpr std::array<std::string_view, 2> kHistogramColumns = {"size", "count"};

uint64_t HistogramNumber(const std::string_view* text) {
  return text ? ParseNumber<uint64_t>(*text).value_or(~uint64_t{0}) : ~uint64_t{0};
}

}  // namespace

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
