#include "libgraphkit/printable.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace graphkit {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

void AppendEscape(unsigned char byte, std::string& out) {
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    out += escape;
  }
}

// U+FFFE and U+FFFF: XML has no way to write them.
bool IsNoCharacter(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

// Line and paragraph separators, and what makes text run the other way: U+2028 to U+202E, U+2066 to
// U+2069 (Unicode Standard Annex #9). They would break lines, or show names as what they aren't.
bool Rearranges(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(text[1]),
             third = static_cast<unsigned char>(text[2]);
  return (second == 0x80 && third >= 0xa8 && third <= 0xae) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

// Of three bytes.
void AppendCodePoint(std::string_view text, std::string& out) {
  const auto bits = [&text](size_t i) { return static_cast<unsigned>(text[i]) & 0x3fu; };
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x",
                (static_cast<unsigned>(text[0]) & 0xfu) << 12 | bits(1) << 6 | bits(2));
  out += escape;
}

// Where the code point number `count` starts, counted from the front.
size_t ByteOf(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!Continues(text[at]) && count-- == 0) break;
  }
  return at;
}

// With what a terminal would obey as \x1b.
std::string EscapedWord(const std::string& text) {
  std::string quoted = "$'";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = byte >= 0x20 && byte < 0x7f && letter != '\'' && letter != '\\';
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    quoted += plain ? std::string(1, letter) : std::string(escape);
  }
  return quoted + "'";
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!Continues(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool outside = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0 || IsNoCharacter(text)) {
      out += kReplacement;
    } else if (byte < 0x20 || byte == 0x7f) {
      AppendEscape(byte, out);
    } else if (byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) {
      AppendEscape(static_cast<unsigned char>(text[1]), out);  // C1: U+0080 to U+009F
    } else if (Rearranges(text)) {
      AppendCodePoint(text, out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += Continues(c) ? 0u : 1u;
  return width;
}

std::string Ellipsize(std::string_view text, size_t columns) {
  const size_t width = DisplayWidth(text);
  if (width <= columns) return std::string(text);
  if (columns == 0) return "";
  const size_t kept = columns - 1;
  const size_t front = kept - kept / 3;
  return std::string(text.substr(0, ByteOf(text, front))) + "…" +
         std::string(text.substr(ByteOf(text, width - (kept - front))));
}

std::string CutAtEnd(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  return columns == 0 ? "" : std::string(text.substr(0, ByteOf(text, columns - 1))) + "…";
}

std::string ShellWord(const std::string& text) {
  if (Printable(text) != text) return EscapedWord(text);
  constexpr std::string_view kPlain = "_-./+:,@%=";
  bool plain = !text.empty();
  std::string quoted = "'";
  for (const char letter : text) {
    const bool alnum = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    plain = plain && (alnum || kPlain.find(letter) != kPlain.npos);
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return plain ? text : quoted + "'";
}

}  // namespace graphkit
