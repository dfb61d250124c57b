#include "tools/graphkit/terminal/progress.h"

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("a share and the time left, where it is known how much there is to do") {
  CHECK(ProgressText("reading a", 0, 0, 3.2) == "reading a … 3 s");
  CHECK(ProgressText("reading a", 0, 100, 3.2) == "reading a … 3 s");
  CHECK(ProgressText("reading a", 25, 100, 3.0) == "reading a: 25%, about 9 s left");
  CHECK(ProgressText("reading a", 1, 1000, 3.0) == "reading a: 0%, about 49 min left");
  CHECK(ProgressText("reading a", 999, 1000, 3.0) == "reading a: 99%, about 1 s left");
  CHECK(ProgressText("reading a", 100, 100, 3.0) == "reading a … 3 s");
}

}  // namespace graphkit
