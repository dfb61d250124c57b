#include "tools/graphkit/suggest.h"

#include <vector>

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("edits are inserts, deletes, replacements and swaps of neighbours") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("abc", "abc") == 0);
  CHECK(EditDistance("analyse", "analyze") == 1);
  CHECK(EditDistance("anaylze", "analyze") == 1);
  CHECK(EditDistance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest word is suggested, a far one isn't") {
  const std::vector<std::string> words = {"analyze", "doctor", "dot", "trace"};
  CHECK(Nearest("analyse", words) == "analyze");
  CHECK(Nearest("dto", words) == "dot");
  CHECK(Nearest("doct", words) == "doctor");
  CHECK(Nearest("traec", words) == "trace");
  CHECK(Nearest("weather", words) == std::nullopt);
  CHECK(Nearest("", words) == std::nullopt);
}

}  // namespace graphkit
