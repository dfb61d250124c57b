#include "tools/graphkit/cli/suggest.h"

#include <vector>

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("the nearest word is suggested, a far one isn't") {
  const std::vector<std::string> words = {"analyze", "doctor", "dot", "trace"};
  CHECK(Nearest("analyse", words) == "analyze");
  CHECK(Nearest("dto", words) == "dot");
  CHECK(Nearest("doct", words) == "doctor");
  CHECK(Nearest("traec", words) == "trace");
  CHECK(Nearest("weather", words) == std::nullopt);
  CHECK(Nearest("", words) == std::nullopt);
  CHECK(Nearest("-q", std::vector<std::string>{"-h", "--help"}) == std::nullopt);
}

TEST_CASE("case doesn't count, and a part of a word is near it") {
  const std::vector<std::string> words = {"strict", "pytorch"};
  CHECK(Nearest("STRICT", words) == "strict");
  CHECK(Nearest("torch", words) == "pytorch");
}

TEST_CASE("the nearest count and size keep the number") {
  CHECK(NearestCount("-1") == "1");
  CHECK(NearestCount("2.5") == "2");
  CHECK(NearestCount("7x") == "7");
  CHECK(NearestCount("many") == std::nullopt);
  CHECK(NearestCount("99999999999999999999") == std::nullopt);
  CHECK(NearestSize("10XB") == "10B");
  CHECK(NearestSize("-4k") == "4KiB");
  CHECK(NearestSize("1.5gigs") == "1.5GiB");
  CHECK(NearestSize("2 mb") == "2MiB");
  CHECK(NearestSize("lots") == std::nullopt);
  CHECK(NearestSize("1.2.3") == std::nullopt);
}

}  // namespace graphkit
