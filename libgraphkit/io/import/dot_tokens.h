// The words of a DOT text, one after the other. The language: graphviz.org/doc/info/lang.html.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace graphkit {

enum class DotTokenKind : uint8_t {
  kWord,   // an identifier, a number, or a string; in a string \" is ", else it stays as it is
  kArrow,  // -> or --
  kPunctuation,
  kEnd,
};

struct DotToken {
  DotTokenKind kind = DotTokenKind::kEnd;
  std::string text;     // of a word
  char character = 0;   // punctuation
  bool quoted = false;  // the word is a string
};

class DotTokens {
 public:
  explicit DotTokens(std::string_view text) : text_(text) {}

  DotToken Next();
  uint64_t line() const { return line_; }

 private:
  void SkipSpaces();
  void SkipLine();
  DotToken Quoted();
  DotToken Html();
  bool at_end() const { return pos_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  void Advance() { line_ += text_[pos_++] == '\n'; }

  std::string_view text_;
  size_t pos_ = 0;
  uint64_t line_ = 1;
};

}  // namespace graphkit
