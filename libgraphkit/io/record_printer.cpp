#include "libgraphkit/io/record_printer.h"

#include <simdjson.h>

namespace graphkit {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Bytes in the UTF-8 sequence that a byte begins; 0: it begins none.
size_t SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

std::string MakeValid(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = SequenceLength(static_cast<unsigned char>(text[0]));
    const std::string_view sequence = text.substr(0, length);
    const bool good = length != 0 && sequence.size() == length &&
                      simdjson::validate_utf8(sequence.data(), sequence.size());
    valid += good ? sequence : kReplacement;
    text.remove_prefix(good ? length : 1);
  }
  return valid;
}

void AppendEscaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '\\') {
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += '\\';
      out += c;
    }
  }
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  if (simdjson::validate_utf8(text.data(), text.size())) {
    AppendEscaped(out, text);
  } else {
    AppendEscaped(out, MakeValid(text));
  }
  out += '"';
}

}  // namespace graphkit
