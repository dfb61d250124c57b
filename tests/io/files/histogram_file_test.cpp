#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "libgraphkit/io/files/plan_files.h"

namespace graphkit {
namespace {

TEST_CASE("requests by size are a table") {
  const std::vector<SizeCount> wanted = {{1, 900}, {8, 40}};
  CHECK(*ParseHistogram("size,count\n8,40\n1,900\n5,0\n", "h") == wanted);
  CHECK(*ParseHistogram("count,rank,size\n900,0,1\n30,0,8\n10,1,8\n", "h") == wanted);
}

TEST_CASE("a histogram that isn't one is refused with its line") {
  const auto sizes = ParseHistogram("size,count\n8,40\n0,3\n", "h.csv");
  REQUIRE(!sizes);
  CHECK(sizes.error().line == 3);
  CHECK(sizes.error().file == "h.csv");
  for (const char* bad :
       {"", "size\n8\n", "size,count\n", "size,count\n8\n", "size,count\n8,-1\n", "{\"a\": 1}",
        "{\"8\": \"x\"}", "{\"8\": 1.5}", "{", "size,count\n8,1000000000\n9,1\n",
        "size,count\n8,99999999999999999999\n"}) {
    CAPTURE(bad);
    CHECK(!ParseHistogram(bad, "h"));
  }
}

}  // namespace
}  // namespace graphkit
