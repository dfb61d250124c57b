#include "libgraphkit/render/text_layout.h"

#include <doctest/doctest.h>

namespace graphkit {

namespace {

const TextRows kRows = {{"name", "bytes", "blocks", "where"},
                        {"first", "1 MiB", "12", "attention.cu:42 forward"},
                        {"second", "512 B", "3", "mlp.cu:7 backward"}};
constexpr const char* kAlign = "lrrl";

}  // namespace

TEST_CASE("in a pipe a table is as wide as it needs") {
  CHECK(Table(kRows, kAlign, "  ") ==
        "  name    bytes  blocks  where\n"
        "  first   1 MiB      12  attention.cu:42 forward\n"
        "  second  512 B       3  mlp.cu:7 backward\n");
}

TEST_CASE("on a terminal texts are shortened first") {
  CHECK(Table(kRows, kAlign, "  ", {.table = 42}) ==
        "  name    bytes  blocks  where\n"
        "  first   1 MiB      12  attention.c…rward\n"
        "  second  512 B       3  mlp.cu:7 backward\n");
}

TEST_CASE("columns that are too many stand below, named again") {
  CHECK(Table(kRows, kAlign, "", {.table = 24}) ==
        "name    bytes  blocks\n"
        "first   1 MiB      12\n"
        "second  512 B       3\n"
        "\n"
        "name    where\n"
        "first   attention.…rward\n"
        "second  mlp.cu:7 b…kward\n");
  CHECK(Table(kRows, kAlign, "", {.table = 1}) ==
        Table(kRows, kAlign, "", {.table = 12}));  // a column each is the least
}

TEST_CASE("a cell of ten kilobytes is cut wherever it goes") {
  const std::string line = Table({{std::string(10'000, 'a'), "1"}}, "lr", "");
  CHECK(DisplayWidth(line) == 100 + 2 + 1 + 1);
}

TEST_CASE("a row may be shorter than the head") {
  CHECK(Table({{"a", "b"}, {"c"}}, "lr", "") == "a  b\nc\n");
  CHECK(Table({}, "l", "").empty());
}

}  // namespace graphkit
