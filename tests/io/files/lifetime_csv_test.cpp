#include "libgraphkit/io/files/plan_files.h"

#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/random.h"

namespace graphkit {
namespace {

std::string ErrorOf(std::string_view text) {
  const Result<LifetimeTable> table = ParseLifetimeCsv(text);
  return table ? "" : Describe(table.error());
}

TEST_CASE("a table of lifetimes is read") {
  const Result<LifetimeTable> table =
      ParseLifetimeCsv("id,lower,upper,size\nb1,0,3,4\r\nb2,3,9,4\n\n");
  REQUIRE(table.has_value());
  CHECK(*table == LifetimeTable{.problem = {.blocks = {{.size = 4}, {.size = 4}},
                                            .lifetimes = {{0, 3}, {3, 9}}},
                                .ids = {"b1", "b2"}});
}

TEST_CASE("columns come in any order, alignment and offset are optional") {
  const Result<LifetimeTable> table =
      ParseLifetimeCsv("size, note ,upper,lower,offset,alignment\n8,x,5,-1,,16\n8,y,5,1,64,\n");
  REQUIRE(table.has_value());
  CHECK(table->problem ==
        LifetimeProblem{.blocks = {{.size = 8, .alignment = 16}, {.size = 8, .fixed = 64}},
                        .lifetimes = {{-1, 5}, {1, 5}}});
  CHECK(table->ids == std::vector<std::string>{"0", "1"});
}

TEST_CASE("what is wrong is named with its line") {
  CHECK(ErrorOf("") == "the table is empty");
  CHECK(ErrorOf("id,lower,size\n").find("no column 'upper'") != std::string::npos);
  const Result<LifetimeTable> bad = ParseLifetimeCsv("id,lower,upper,size\na,0,1,4\nb,0,x,4\n");
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().line == 3);
  CHECK(bad.error().message == "'upper' isn't a number that is allowed there");
  CHECK(ErrorOf("id,lower,upper,size\na,3,1,4\n").find("ends before it begins") !=
        std::string::npos);
  CHECK(ErrorOf("id,lower,upper,size\na,3,4,-4\n").find("'size' isn't") != std::string::npos);
  CHECK(ErrorOf("id,lower,upper,size\na,3\n").find("too few fields") != std::string::npos);
  CHECK(ErrorOf("id,lower,upper,size,alignment\na,3,4,4,0\n").find("an alignment of 0") !=
        std::string::npos);
}

TEST_CASE("a table of more memory than there can be is refused") {
  const std::string head = "id,lower,upper,size,alignment,offset\n";
  const auto wrong = [&](const std::string& row) { return ErrorOf(head + row + "\n"); };
  CHECK(wrong("a,0,1,72057594037927937,1,").find("a size of more than 2^56") != std::string::npos);
  CHECK(wrong("a,0,1,1,9223372036854775808,").find("an alignment of more than 2^56") !=
        std::string::npos);
  CHECK(wrong("a,0,1,1,1,4611686018427387905").find("an offset of more than 2^62") !=
        std::string::npos);
  std::string rows = head;
  for (int i = 0; i < 64; ++i) rows += "a,0,1,72057594037927936,1,\n";
  CHECK(ErrorOf(rows).find("together are more than 2^62") != std::string::npos);
}

// Random blocks with offsets, against a look at each pair.
TEST_CASE("blocks with offsets that overlap while both are needed are refused") {
  uint64_t refused = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    struct Row {
      uint64_t lower, upper, size, offset;
    };
    std::vector<Row> rows;
    std::string text = "id,lower,upper,size,offset\n";
    bool overlap = false;
    for (uint64_t i = 2 + random.Below(6); i > 0; --i) {
      const uint64_t lower = random.Below(10);
      const Row row{lower, lower + random.Below(4), random.Below(4), random.Below(12)};
      const bool free = random.Below(4) == 0;
      text += std::to_string(i) + "," + std::to_string(row.lower) + "," +
              std::to_string(row.upper) + "," + std::to_string(row.size) + "," +
              (free ? "" : std::to_string(row.offset)) + "\n";
      if (free) continue;
      for (const Row& other : rows) {
        const bool both = std::max(row.lower, other.lower) < std::min(row.upper, other.upper);
        overlap =
            overlap || (both && std::max(row.offset, other.offset) <
                                    std::min(row.offset + row.size, other.offset + other.size));
      }
      rows.push_back(row);
    }
    REQUIRE(ParseLifetimeCsv(text).has_value() == !overlap);
    refused += overlap ? 1 : 0;
  }
  CHECK(refused > 100);
  CHECK(refused < 1800);
}

}  // namespace
}  // namespace graphkit
