#include "libgraphkit/render/text_layout.h"

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("printable text is valid UTF-8 on one line") {
  CHECK(Printable("plain é ✓ 🚀") == "plain é ✓ 🚀");
  CHECK(Printable("a\nb\tc\x1b[0m\x7f") == "a\\nb\\tc\\x1b[0m\\x7f");
  CHECK(Printable("\xc2\x85") == "\\x85");                     // C1: next line
  CHECK(Printable("a\xff") == "a\xef\xbf\xbd");                // no lead byte
  CHECK(Printable("\xc0\xaf") == "\xef\xbf\xbd\xef\xbf\xbd");  // overlong slash
  CHECK(Printable("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd");  // cut off
  CHECK(Printable("\xed\xa0\x80").size() == 9);                // a surrogate: three replacements
  CHECK(Printable("\xf4\x90\x80\x80").size() == 12);           // beyond U+10FFFF
  CHECK(Printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(Printable("a\u2028b\u2029") == "a\\u2028b\\u2029");  // would end lines
  CHECK(Printable("\u202egnp.exe \u2066") ==
        "\\u202egnp.exe \\u2066");  // would turn the text around
  CHECK(Printable("\u2027\u202f\u2065\u206a") == "\u2027\u202f\u2065\u206a");
  CHECK(Printable("\xef\xbf\xbe\xef\xbf\xbf") == "\xef\xbf\xbd\xef\xbf\xbd");  // no characters
}

TEST_CASE("width counts characters, not bytes") {
  CHECK(DisplayWidth("") == 0);
  CHECK(DisplayWidth("aé✓🚀") == 4);
}

TEST_CASE("the middle of a long text gives way") {
  CHECK(Ellipsize("short", 5) == "short");
  CHECK(Ellipsize("abcdefghij", 7) == "abcd…ij");
  CHECK(Ellipsize("ééééé", 3) == "éé…");
  CHECK(Ellipsize("abc", 1) == "…");
  CHECK(Ellipsize("abc", 0) == "");
}

TEST_CASE("a name is quoted where a shell would take it apart") {
  CHECK(ShellWord("runs/a-1.json") == "runs/a-1.json");
  CHECK(ShellWord("my plan.json") == "'my plan.json'");
  CHECK(ShellWord("it's.json") == "'it'\\''s.json'");
  CHECK(ShellWord("a\nb") == "$'a\\x0ab'");
  CHECK(ShellWord("") == "''");
}

}  // namespace graphkit
