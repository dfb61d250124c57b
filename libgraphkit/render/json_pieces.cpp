#include "libgraphkit/render/json_pieces.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "libgraphkit/render/json.h"

namespace graphkit {
namespace {

bool NeedsEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\';
}

}  // namespace

void JsonPieces::Begin(char open) {
  Next();
  *out_ += open;
  ++depth_;
  first_ = true;
}

void JsonPieces::End(char close) {
  --depth_;
  if (!first_) NewLine();
  first_ = false;
  *out_ += close;
}

void JsonPieces::Key(std::string_view name) {
  Next();
  *out_ += '"';
  *out_ += name;
  *out_ += indent_ < 0 ? "\":" : "\": ";
  named_ = true;
}

void JsonPieces::Value(std::string_view text) {
  Next();
  Quoted(text);
}

void JsonPieces::Value(uint64_t number) {
  char digits[20];
  Plain({digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr});
}

void JsonPieces::Plain(std::string_view text) {
  Next();
  *out_ += text;
}

// Between two values of a list, or two members.
void JsonPieces::Next() {
  if (named_ || outermost_) {
    named_ = outermost_ = false;
    return;
  }
  if (!first_) *out_ += ',';
  first_ = false;
  NewLine();
}

void JsonPieces::NewLine() {
  if (indent_ < 0) return;
  *out_ += '\n';
  out_->append(static_cast<size_t>(depth_ * indent_), ' ');
}

// Most texts stand as they are.
void JsonPieces::Quoted(std::string_view text) {
  if (std::ranges::any_of(text, NeedsEscape)) {
    *out_ += Dump(Json(text));
    return;
  }
  *out_ += '"';
  *out_ += text;
  *out_ += '"';
}

}  // namespace graphkit
