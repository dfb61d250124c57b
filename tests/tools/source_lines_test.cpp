#include <doctest/doctest.h>

#include "tools/graphkit/trace/lines.h"

namespace graphkit {

TEST_CASE("a symbolizer's answers are read by address, innermost first") {
  const auto found = ReadSymbolizer(
      "0x00000000000012cc\n"
      "Launch\n/src/k.cu:5\n"
      "Launch\n/src/k.cu:4\n"
      "Layer::Forward(CUstream_st*)\n/src/k.cu:7 (discriminator 3)\n"
      "main\nC:/odd:name.cu:13\n"
      "0x1500\n"
      "??\n??:0\n"
      "0x1600\n"
      "known\n??:?\n"
      "inside\n/src/a.cpp:?\n"
      "outside\n/src/a.cpp:9\n");
  REQUIRE(found.size() == 3);
  CHECK(found[0].first == 0x12cc);
  CHECK(found[0].second ==
        std::vector<SourceFrame>{{"Launch", "/src/k.cu", 5},
                                 {"Layer::Forward(CUstream_st*)", "/src/k.cu", 7},
                                 {"main", "C:/odd:name.cu", 13}});
  CHECK(found[1].first == 0x1500);
  CHECK(found[1].second.empty());
  CHECK(found[2].second == std::vector<SourceFrame>{{"outside", "/src/a.cpp", 9}});
}

TEST_CASE("what no symbolizer prints is nothing") {
  CHECK(ReadSymbolizer("").empty());
  CHECK(ReadSymbolizer("main\n/src/k.cu:3\n").empty());
  CHECK(ReadSymbolizer("0x1\nmain").front().second.empty());
  CHECK(ReadSymbolizer("0x1\nmain\n:").front().second.empty());
}

}  // namespace graphkit
