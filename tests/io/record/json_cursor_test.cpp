#include "libgraphkit/io/record/json_cursor.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace graphkit {
namespace {

// A line as the cursor wants it: a line feed behind it, and room to look ahead.
std::string Line(std::string text) { return text + "\n" + std::string(64, '\0'); }

template <typename T>
std::optional<T> Number(const char* text) {
  const std::string line = Line(text);
  JsonCursor cursor(line.data());
  T number = 0;
  if (!cursor.TakeNumber(number) || !cursor.at_line_end()) return {};
  return number;
}

bool Skips(const std::string& text) {
  const std::string line = Line(text);
  JsonCursor cursor(line.data());
  return cursor.Skip() && cursor.at_line_end();
}

std::optional<std::string> Text(const char* text) {
  const std::string line = Line(text);
  JsonCursor cursor(line.data());
  JsonText found;
  std::string out;
  if (!cursor.TakeText(found) || !cursor.at_line_end()) return {};
  if (!AppendUnescaped(found.raw, out)) return {};
  CHECK(found.has_escapes == (found.raw.find('\\') != std::string_view::npos));
  return out;
}

TEST_CASE("whole numbers are read to the last one that fits") {
  CHECK(Number<uint64_t>("0") == 0);
  CHECK(Number<uint64_t>("18446744073709551615") == ~uint64_t{0});
  CHECK(Number<int64_t>("9223372036854775807") == INT64_MAX);
  CHECK(Number<int64_t>("-9223372036854775808") == INT64_MIN);
  for (const char* bad : {"", "-", "01", "1.0", "1e3", "18446744073709551616",
                          "184467440737095516150", "x", "-1", "+1"}) {
    CAPTURE(bad);
    CHECK_FALSE(Number<uint64_t>(bad).has_value());
  }
  CHECK_FALSE(Number<int64_t>("9223372036854775808").has_value());
  CHECK_FALSE(Number<int64_t>("-9223372036854775809").has_value());
}

TEST_CASE("strings are read with JSON's escapes, and no others") {
  CHECK(Text(R"("")") == "");
  CHECK(Text(R"("a\"\\\/\b\f\n\r\tz")") == "a\"\\/\b\f\n\r\tz");
  CHECK(Text(R"("\u0041\u00e9\u20AC\ud83d\ude00")") == "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  for (const char* bad : {R"(")", R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ud83dx")",
                          R"("\ude00")", R"("\ud83d\u0041")", "\"\x01\"", R"("\)", R"("a\")"}) {
    CAPTURE(bad);
    CHECK_FALSE(Text(bad).has_value());
  }
}

TEST_CASE("any value can be passed over, but only JSON") {
  for (const char* good : {"null", "true", "-1.5e-3", "\"x\"", "[]", "{}",
                           "[1,[2,{\"a\":[]}],\"]\"]", "{ \"a\" : 1 , \"b\" : { } }"}) {
    CAPTURE(good);
    CHECK(Skips(good));
  }
  for (const char* bad : {"", "nul", "[", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "1.", "1e",
                          ".5", "[1 2]", "{\"a\":1,}"}) {
    CAPTURE(bad);
    CHECK_FALSE(Skips(bad));
  }
  CHECK(Skips(std::string(90, '[') + std::string(90, ']')));
  CHECK_FALSE(Skips(std::string(100'000, '[')));
}

TEST_CASE("a key is taken only when it is that one") {
  const std::string line = Line(R"("from_port" : 3})");
  JsonCursor cursor(line.data());
  CHECK_FALSE(cursor.TakeKey("from"));
  CHECK_FALSE(cursor.TakeKey("from_ports"));
  CHECK(cursor.TakeKey("from_port"));
  uint64_t number = 0;
  CHECK(cursor.TakeNumber(number));
  CHECK(number == 3);
}

}  // namespace
}  // namespace graphkit
