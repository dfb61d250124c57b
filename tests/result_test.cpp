#include "libgraphkit/result.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

TEST_CASE("an error reads as one line: file, place, what, what to do") {
  const Error error{.message = "not a graphkit trace",
                    .hint = "make one with 'graphkit trace'",
                    .file = "a.json",
                    .line = 3};
  CHECK(Describe(error) == "a.json:3: not a graphkit trace; make one with 'graphkit trace'");
  CHECK(Describe(Error{.message = "cut off", .file = "b", .offset = 7}) == "b: cut off at byte 7");
}

TEST_CASE("an error has no characters that a terminal would obey") {
  const Error error{.message = "bad header '\x1b[2J'", .file = "a\n\x07.json"};
  CHECK(Describe(error) == "a\\n\\x07.json: bad header '\\x1b[2J'");
}

TEST_CASE("a result holds either its value or its error") {
  const Result<int> good = 3;
  const Result<int> bad = Unexpected{Error{.message = "no"}};
  CHECK(good.has_value());
  CHECK(*good == 3);
  CHECK_FALSE(bad);
  CHECK(bad.error().message == "no");
}

}  // namespace
}  // namespace graphkit
