#include "libgraphkit/units.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

TEST_CASE("bytes read like a person writes them") {
  CHECK(FormatBytes(0) == "0 B");
  CHECK(FormatBytes(1023) == "1023 B");
  CHECK(FormatBytes(1024) == "1 KiB");
  CHECK(FormatBytes(1536) == "1.50 KiB");
  CHECK(FormatBytes(20 * 1024 * 1024) == "20 MiB");
  CHECK(FormatBytes(85'899'345'920) == "80 GiB");
}

TEST_CASE("sizes parse with binary and decimal units") {
  CHECK(ParseBytes("80GiB") == 85'899'345'920);
  CHECK(ParseBytes("1.5 KiB") == 1536);
  CHECK(ParseBytes("4096") == 4096);
  CHECK(ParseBytes("2GB") == 2'000'000'000);
  CHECK(ParseBytes("15EiB") == Bytes{15} << 60);
  CHECK_FALSE(ParseBytes("16EiB").has_value());
  CHECK_FALSE(ParseBytes("nan").has_value());
  CHECK_FALSE(ParseBytes("inf").has_value());
  CHECK_FALSE(ParseBytes("").has_value());
  CHECK_FALSE(ParseBytes("many").has_value());
  CHECK_FALSE(ParseBytes("-1B").has_value());
  CHECK_FALSE(ParseBytes("3 XiB").has_value());
}

TEST_CASE("counts are grouped by threes") {
  CHECK(FormatCount(7) == "7");
  CHECK(FormatCount(1234567) == "1,234,567");
}

}  // namespace
}  // namespace graphkit
