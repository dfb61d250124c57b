#include "libgraphkit/io/import/dot_tokens.h"

namespace graphkit {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || (static_cast<unsigned char>(c) & 0x80u);
}

}  // namespace

void DotTokens::SkipLine() {
  while (!at_end() && Peek() != '\n') Advance();
}

// Spaces, comments, and lines of a preprocessor.
void DotTokens::SkipSpaces() {
  while (!at_end()) {
    const bool line_begins = pos_ == 0 || text_[pos_ - 1] == '\n';
    if (IsSpace(Peek())) {
      Advance();
    } else if ((Peek() == '/' && Peek(1) == '/') || (Peek() == '#' && line_begins)) {
      SkipLine();
    } else if (Peek() == '/' && Peek(1) == '*') {
      Advance();
      Advance();
      while (!at_end() && !(Peek() == '*' && Peek(1) == '/')) Advance();
      if (!at_end()) Advance();
      if (!at_end()) Advance();
    } else {
      return;
    }
  }
}

DotToken DotTokens::Quoted() {
  DotToken token{.kind = DotTokenKind::kWord, .text = {}, .character = 0, .quoted = true};
  Advance();
  while (!at_end() && Peek() != '"') {
    if (Peek() == '\\' && Peek(1) == '"')
      Advance();
    else if (Peek() == '\\' && pos_ + 1 < text_.size()) {
      token.text += Peek();
      Advance();
    }
    token.text += Peek();
    Advance();
  }
  if (!at_end()) Advance();
  return token;
}

// <…>, with the brackets inside in pairs.
DotToken DotTokens::Html() {
  DotToken token{.kind = DotTokenKind::kWord, .text = {}, .character = 0, .quoted = true};
  int depth = 0;
  do {
    depth += Peek() == '<' ? 1 : Peek() == '>' ? -1 : 0;
    token.text += Peek();
    Advance();
  } while (!at_end() && depth > 0);
  return token;
}

DotToken DotTokens::Next() {
  SkipSpaces();
  if (at_end()) return {};
  if (Peek() == '"') return Quoted();
  if (Peek() == '<') return Html();
  if (Peek() == '-' && (Peek(1) == '>' || Peek(1) == '-')) {
    Advance();
    Advance();
    return {.kind = DotTokenKind::kArrow, .text = {}};
  }
  const bool negative = Peek() == '-' && IsWord(Peek(1));
  if (!negative && !IsWord(Peek())) {
    const char character = Peek();
    Advance();
    return {.kind = DotTokenKind::kPunctuation, .text = {}, .character = character};
  }
  DotToken token{.kind = DotTokenKind::kWord, .text = {}};
  do {
    token.text += Peek();
    Advance();
  } while (!at_end() && IsWord(Peek()));
  return token;
}

}  // namespace graphkit
