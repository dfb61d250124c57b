#include "libgraphkit/render/json_pieces.h"

#include <charconv>
#include <iterator>

namespace graphkit {
namespace {

bool NeedsEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\';
}

}  // namespace

void JsonPieces::Begin(char open) {
  Next();
  text_ += open;
  ++depth_;
  first_ = true;
}

void JsonPieces::End(char close) {
  constexpr size_t kFlushed = size_t{64} * 1024;
  --depth_;
  if (!first_) NewLine();
  first_ = false;
  text_ += close;
  if (depth_ > 0 && text_.size() < kFlushed) return;
  out_ << text_;
  text_.clear();
}

void JsonPieces::Key(std::string_view name) {
  Next();
  text_ += '"';
  text_ += name;
  text_ += indent_ < 0 ? "\":" : "\": ";
  named_ = true;
}

void JsonPieces::Value(std::string_view text) {
  Next();
  Quoted(text);
}

void JsonPieces::Value(uint64_t number) { Plain(std::to_string(number)); }

// Its lines go further in: no text in JSON holds the end of a line.
void JsonPieces::Value(const Json& value) {
  Next();
  for (const char c : Dump(value, indent_)) {
    if (c == '\n') {
      NewLine();
    } else {
      text_ += c;
    }
  }
}

void JsonPieces::Plain(std::string_view text) {
  Next();
  text_ += text;
}

// Between two values of a list, or two members.
void JsonPieces::Next() {
  if (named_ || outermost_) {
    named_ = outermost_ = false;
    return;
  }
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
}

void JsonPieces::NewLine() {
  if (indent_ < 0) return;
  text_ += '\n';
  text_.append(static_cast<size_t>(depth_ * indent_), ' ');
}

// Most texts stand as they are.
void JsonPieces::Quoted(std::string_view text) {
  if (std::ranges::any_of(text, NeedsEscape)) {
    text_ += Dump(Json(text));
    return;
  }
  text_ += '"';
  text_ += text;
  text_ += '"';
}

}  // namespace graphkit
