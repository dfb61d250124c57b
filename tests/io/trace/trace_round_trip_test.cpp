#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "tests/build_trace.h"
#include "tests/io/trace/random_trace.h"

namespace graphkit {
namespace {

// Where two texts differ: the first differing line of each.
std::string FirstDifference(const std::string& a, const std::string& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() && i == b.size()) return {};
  const auto line = [i](const std::string& text) {
    const size_t begin = text.rfind('\n', i) + 1;
    return text.substr(begin, text.find('\n', i) - begin);
  };
  return line(a) + "\n" + line(b);
}

TEST_CASE("random traces read back as they were written") {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Trace trace = RandomTrace(seed, static_cast<int>(seed));
    const Result<std::string> text = FormatTrace(trace);
    REQUIRE_MESSAGE(text, Describe(text.error()));
    const Result<Trace> again = ParseTrace(*text, "random");
    REQUIRE_MESSAGE(again, Describe(again.error()));
    const Result<std::string> text_again = FormatTrace(*again);
    REQUIRE(text_again);
    REQUIRE(FirstDifference(*text, *text_again).empty());
    REQUIRE(*again == trace);
  }
}

TEST_CASE("a text larger than many chunks reads the same whatever the chunks are") {
  const Trace trace = RandomTrace(7, 15'000);
  const Result<std::string> text = FormatTrace(trace);
  REQUIRE(text);
  REQUIRE(text->size() > 1'000'000);
  const Result<Trace> first = ParseTrace(*text, "big");
  REQUIRE_MESSAGE(first, Describe(first.error()));
  CHECK(FirstDifference(FormatTrace(*first).value(), *text).empty());
  for (int i = 0; i < 3; ++i) CHECK(ParseTrace(*text, "big").value() == *first);
}

}  // namespace
}  // namespace graphkit
