#include "libgraphkit/io/record/json_cursor.h"

#include <algorithm>
#include <charconv>

namespace graphkit {
namespace {

constexpr int kDeepest = 100;  // values inside values that are passed over

// Four hexadecimal digits at the beginning of `raw`, which loses them; negative: there are none.
int32_t TakeCodeUnit(std::string_view& raw) {
  uint16_t unit = 0;
  const char* end = raw.data() + std::min<size_t>(raw.size(), 4);
  if (std::from_chars(raw.data(), end, unit, 16).ptr != raw.data() + 4) return -1;
  raw.remove_prefix(4);
  return unit;
}

// Reads behind "\u": one code unit, or a surrogate pair.
int32_t TakeCodePoint(std::string_view& raw) {
  const int32_t first = TakeCodeUnit(raw);
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first > 0xdbff || !raw.starts_with("\\u")) return -1;
  raw.remove_prefix(2);
  const int32_t second = TakeCodeUnit(raw);
  if (second < 0xdc00 || second > 0xdfff) return -1;
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

void AppendUtf8(int32_t point, std::string& out) {
  const auto put = [&](int32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

// The character that a one-letter escape stands for; 0: there is no such escape.
char Escaped(char letter) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t index = kLetters.find(letter);
  return index == std::string_view::npos ? '\0' : kMeanings[index];
}

}  // namespace

bool AppendUnescaped(std::string_view raw, std::string& out) {
  while (!raw.empty()) {
    const size_t plain = std::min(raw.find('\\'), raw.size());
    out += raw.substr(0, plain);
    raw.remove_prefix(plain);
    if (raw.size() < 2) return raw.empty();
    const char letter = raw[1];
    raw.remove_prefix(2);
    if (letter == 'u') {
      const int32_t point = TakeCodePoint(raw);
      if (point < 0) return false;
      AppendUtf8(point, out);
    } else {
      const char meaning = Escaped(letter);
      if (meaning == '\0') return false;
      out += meaning;
    }
  }
  return true;
}

bool JsonCursor::SkipNumber() {
  const auto digits = [this] {
    const char* begin = next_;
    while (IsDigit(*next_)) ++next_;
    return next_ != begin;
  };
  if (*next_ == '-') ++next_;
  if (!digits()) return false;
  if (*next_ == '.') {
    ++next_;
    if (!digits()) return false;
  }
  if ((*next_ | 0x20) == 'e') {
    ++next_;
    if (*next_ == '+' || *next_ == '-') ++next_;
    if (!digits()) return false;
  }
  SkipSpaces();
  return true;
}

bool JsonCursor::SkipEntries(char close, bool with_keys, int depth) {
  if (Take(close)) return true;
  do {
    JsonText key;
    if (with_keys && (!TakeText(key) || !Take(':'))) return false;
    if (!SkipValue(depth)) return false;
  } while (Take(','));
  return Take(close);
}

bool JsonCursor::SkipValue(int depth) {
  JsonText text;
  switch (*next_) {
    case '"':
      return TakeText(text);
    case '{':
      return depth < kDeepest && Take('{') && SkipEntries('}', true, depth + 1);
    case '[':
      return depth < kDeepest && Take('[') && SkipEntries(']', false, depth + 1);
    case 't':
      return TakeWord("true");
    case 'f':
      return TakeWord("false");
    case 'n':
      return TakeWord("null");
    default:
      return SkipNumber();
  }
}

}  // namespace graphkit
