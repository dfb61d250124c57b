#include "libgraphkit/model/date.h"

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("a date is a day of the calendar") {
  CHECK(ParseDate("2026-03-31") == Date{2026, 3, 31});
  CHECK(ParseDate("2028-02-29") == Date{2028, 2, 29});
  for (const char* wrong : {"", "2026-3-31", "2026-02-30", "2026-00-10", "2026-13-01", "31-03-2026",
                            "2026-03-31T", "2026/03/31", "-026-03-31", "2026-03-3x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(ParseDate(wrong));
  }
}

TEST_CASE("dates read as they are written, and are ordered") {
  CHECK(FormatDate(Date{2026, 3, 1}) == "2026-03-01");
  CHECK(Date{2026, 3, 31} < Date{2026, 4, 1});
}

}  // namespace graphkit
