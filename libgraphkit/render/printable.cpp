#include "libgraphkit/render/printable.h"

#include <cstdint>

namespace graphkit {

namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where the code point number `count` starts, counted from the front.
size_t ByteOf(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!Continues(text[at]) && count-- == 0) break;
  }
  return at;
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += Continues(c) ? 0 : 1;
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

std::string XmlText(std::string_view text) {
  std::string xml;
  for (const char c : Printable(text)) {
    xml += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return xml;
}

std::string PathUri(std::string_view path) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

}  // namespace graphkit
