// Reads JSON values one after the other from a line of text, in one pass.
//
// A record is a short line whose keys are nearly always the expected ones in the expected order, so
// there is nothing to index: each value is read where it stands. What every key goes through is
// always inlined: then a key is compared as a number or two, which halves the time of reading. The
// line must be followed by a line feed, which stands in no JSON token: it stops every scan. What a
// caller expects and doesn't find leaves the cursor where it was wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace graphkit {

// A string as it stands in the text, between the quotes.
struct JsonText {
  std::string_view raw;
  bool has_escapes = false;
};

// Bytes that must be readable behind the lines.
inline constexpr size_t kLinePadding = 64;

class JsonCursor {
 public:
  explicit JsonCursor(const char* text) : next_(text) { SkipSpaces(); }

  const char* position() const { return next_; }
  bool at_line_end() const { return *next_ == '\n'; }

  // Takes one structural character and the spaces behind it.
  [[gnu::always_inline]] bool Take(char wanted) {
    if (*next_ != wanted) return false;
    ++next_;
    SkipSpaces();
    return true;
  }

  // Takes a key and its colon if it is this one, written without escapes. At most 60 characters.
  [[gnu::always_inline]] bool TakeKey(std::string_view key) {
    const char* end = next_ + 1 + key.size();
    if (*next_ != '"' || std::memcmp(next_ + 1, key.data(), key.size()) != 0) return false;
    if (end[0] != '"') return false;
    const char* start = next_;
    next_ = end + 1;
    SkipSpaces();
    if (Take(':')) return true;
    next_ = start;
    return false;
  }

  bool TakeText(JsonText& text) {
    if (*next_ != '"') return false;
    const char* begin = ++next_;
    text.has_escapes = false;
    while (*next_ != '"') {
      if (static_cast<unsigned char>(*next_) < 0x20) return false;
      if (*next_ == '\\') {
        text.has_escapes = true;
        if (static_cast<unsigned char>(*++next_) < 0x20) return false;
      }
      ++next_;
    }
    text.raw = {begin, static_cast<size_t>(next_ - begin)};
    ++next_;
    SkipSpaces();
    return true;
  }

  // Whole numbers; false for fractions, exponents, and what doesn't fit.
  bool TakeNumber(uint64_t& number) {
    const char* begin = next_;
    uint64_t value = 0;
    while (IsDigit(*next_)) {
      const auto digit = static_cast<unsigned>(*next_ - '0');
      if (next_ - begin >= 19 && (next_ - begin > 19 || value > (~uint64_t{0} - digit) / 10)) {
        return false;
      }
      value = value * 10 + digit;
      ++next_;
    }
    if (next_ == begin || (*begin == '0' && next_ != begin + 1)) return false;
    if (*next_ == '.' || (*next_ | 0x20) == 'e') return false;
    number = value;
    SkipSpaces();
    return true;
  }

  bool TakeNumber(int64_t& number) {
    const bool negative = *next_ == '-';
    if (negative) ++next_;
    uint64_t magnitude = 0;
    constexpr uint64_t kMost = uint64_t{1} << 63;
    if (!TakeNumber(magnitude) || magnitude > (negative ? kMost : kMost - 1)) return false;
    number = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (std::strncmp(next_, word.data(), word.size()) != 0) return false;
    next_ += word.size();
    SkipSpaces();
    return true;
  }

  // Passes over any value.
  bool Skip() { return SkipValue(0); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  [[gnu::always_inline]] void SkipSpaces() {
    if (static_cast<unsigned char>(*next_) <= ' ') SkipAllSpaces();
  }

  void SkipAllSpaces() {
    while (*next_ == ' ' || *next_ == '\t' || *next_ == '\r') ++next_;
  }

  bool SkipValue(int depth);
  bool SkipEntries(char close, bool with_keys, int depth);
  bool SkipNumber();

  const char* next_;
};

// The text with its escapes resolved, appended to `out`; false: they aren't JSON's.
bool AppendUnescaped(std::string_view raw, std::string& out);

}  // namespace graphkit
