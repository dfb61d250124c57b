#include "libgraphkit/render/text_layout.h"

#include <algorithm>
#include <array>

#include "libgraphkit/render/printable.h"
#include "libgraphkit/units.h"

namespace graphkit {

std::string Inked(std::string_view text, Ink ink, const TextStyle& style) {
  static constexpr std::array<const char*, 7> kCodes = {"0", "1", "2", "1;31", "33", "32", "34"};
  if (!style.colour || ink == Ink::kPlain) return std::string(text);
  return std::string("\x1b[") + kCodes[static_cast<size_t>(ink)] + "m" + std::string(text) +
         "\x1b[0m";
}

std::string Wrapped(std::string_view first, std::string_view text, const TextStyle& style) {
  const std::string indent(DisplayWidth(first), ' ');
  std::string out(first);
  size_t column = indent.size();
  bool at_start = true;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const size_t width = DisplayWidth(word);
    if (!at_start && column + 1 + width > style.width) {
      out += "\n" + indent;
      column = indent.size();
      at_start = true;
    }
    if (!at_start) out += " ";
    column += width + (at_start ? 0 : 1);
    out += word;
    at_start = false;
  }
  return out + "\n";
}

std::string Table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                  std::string_view indent) {
  std::vector<size_t> widths(right.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - DisplayWidth(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (right[i] ? padding + row[i] : row[i] + padding);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string Counted(uint64_t count, std::string_view noun) {
  return FormatCount(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string Listed(const std::vector<std::string>& items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

}  // namespace graphkit
