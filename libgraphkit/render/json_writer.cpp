#include "libgraphkit/render/json_writer.h"

#include <string>

namespace graphkit {

void JsonObjectWriter::Begin(std::string_view name) {
  if (!first_) out_ << ',';
  first_ = false;
  NewLine(1);
  out_ << '"' << name << (indent_ < 0 ? "\":" : "\": ");
}

void JsonObjectWriter::NewLine(int depth) {
  if (indent_ < 0) return;
  out_ << '\n' << std::string(static_cast<size_t>(depth * indent_), ' ');
}

// Its lines go further in: no text in JSON holds the end of a line.
void JsonObjectWriter::Write(const Json& value, int depth) {
  const std::string text = Dump(value, indent_);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    out_ << std::string_view(text).substr(begin, end - begin);
    NewLine(depth);
    begin = end + 1;
  }
  out_ << std::string_view(text).substr(begin);
}

void JsonObjectWriter::End() {
  if (!first_) NewLine(0);
  out_ << '}';
}

}  // namespace graphkit
