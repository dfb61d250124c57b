#include "libgraphkit/render/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace graphkit {
namespace {

constexpr size_t kMostOfCell = 100;  // columns; names of templates come in ten kilobytes
constexpr size_t kLeastOfCell = 16;  // what a text is left with
constexpr size_t kBetween = 2;       // columns of a table

std::vector<size_t> WidthsOf(const TextRows& rows, size_t columns) {
  std::vector<size_t> widths(columns, 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  return widths;
}

// Cuts the widest texts, so that the columns fit into `room` if that is enough.
void Shorten(std::string_view align, size_t room, TextRows& rows, std::vector<size_t>& widths) {
  size_t together = kBetween * (widths.size() - 1);
  for (const size_t width : widths) together += width;
  while (together > room) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool can = align[i] == 'l' && widths[i] > kLeastOfCell;
      if (can && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --together;
  }
  for (auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = Ellipsize(row[i], widths[i]);
  }
}

// Behind the columns that stand side by side from `begin` on, the first of all beside them.
size_t EndOfPart(const std::vector<size_t>& widths, size_t begin, size_t room) {
  size_t column = begin == 0 ? widths[0] : widths[0] + kBetween + widths[begin];
  size_t end = begin + 1;
  for (; end < widths.size() && column + kBetween + widths[end] <= room; ++end) {
    column += kBetween + widths[end];
  }
  return end;
}

std::string TablePart(const TextRows& rows, std::string_view align,
                      const std::vector<size_t>& widths, const std::vector<size_t>& columns,
                      std::string_view indent) {
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent);
    for (const size_t i : columns) {
      if (i >= row.size()) continue;
      if (i != columns.front()) line += std::string(kBetween, ' ');
      line += Padded(row[i], widths[i], align[i] == 'r');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// The text in that ink; unchanged without colour.
std::string Inked(std::string_view text, Ink ink, const TextStyle& style) {
  static constexpr std::array<const char*, 7> kCodes = {"0", "1", "2", "1;31", "33", "32", "34"};
  if (!style.colour || ink == Ink::kPlain) return std::string(text);
  return std::string("\x1b[") + kCodes[static_cast<size_t>(ink)] + "m" + std::string(text) +
         "\x1b[0m";
}

}  // namespace

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

std::string Labelled(Severity severity, std::string_view text, const TextStyle& style,
                     std::string_view where) {
  static constexpr std::array kInks = {Ink::kBlue, Ink::kYellow, Ink::kRed};
  const std::string label = std::string(SeverityName(severity)) + ":";
  const std::string before = where.empty() ? "" : std::string(where) + ": ";
  const std::string wrapped = Wrapped("", before + label + " " + std::string(text), style);
  return wrapped.substr(0, before.size()) +
         Inked(label, kInks[static_cast<size_t>(severity)], style) +
         wrapped.substr(before.size() + label.size());
}

std::string Ascii(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSigns = {
      {{"█", "#"}, {"→", "->"}, {"…", "..."}, {"×", "x"}, {"·", "-"}, {"−", "-"}}};
  std::string plain(text);
  for (const auto& [sign, instead] : kSigns) {
    for (size_t at = 0; (at = plain.find(sign, at)) != plain.npos; at += instead.size()) {
      plain.replace(at, sign.size(), instead);
    }
  }
  return plain;
}

std::string Bar(uint64_t value, uint64_t most, uint64_t columns) {
  std::string bar;
  const uint64_t cells = most == 0 ? 0 : (value * columns + most / 2) / most;
  for (uint64_t i = 0; i < cells; ++i) bar += "█";
  return bar;
}

std::string Table(TextRows rows, std::string_view align, std::string_view indent,
                  const TextStyle& style) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = Ellipsize(cell, kMostOfCell);
  }
  std::vector<size_t> widths = WidthsOf(rows, align.size());
  const size_t room = style.table > indent.size() ? style.table - indent.size() : 0;
  if (style.table > 0) Shorten(align, room, rows, widths);
  std::string out;
  for (size_t begin = 0; begin < align.size();) {
    const size_t end = style.table > 0 ? EndOfPart(widths, begin, room) : align.size();
    std::vector<size_t> columns;
    if (begin > 0) columns.push_back(0);
    for (size_t i = begin; i < end; ++i) columns.push_back(i);
    if (begin > 0) out += "\n";
    out += TablePart(rows, align, widths, columns, indent);
    begin = end;
  }
  return out;
}

std::string Padded(std::string text, size_t columns, bool right) {
  const size_t taken = DisplayWidth(text);
  const std::string space(taken < columns ? columns - taken : 0, ' ');
  return right ? space + text : text + space;
}

std::string TextOut::Inked(std::string_view text, Ink ink) const {
  return graphkit::Inked(text, ink, style);
}

void TextOut::Wrap(std::string_view first, std::string_view text) const {
  out << Wrapped(first, text, style);
}

void TextOut::Paragraph(std::string_view first, std::string_view text) const {
  out << "\n";
  Wrap(first, text);
}

size_t TextOut::Shown(size_t count) const {
  return style.top == 0 ? count : std::min(count, style.top);
}

std::string TextOut::More(size_t count, std::string_view indent) const {
  const size_t shown = Shown(count);
  if (shown == count) return "";
  return std::string(indent) + "and " + FormatCount(count - shown) + " more; --top 0 shows all\n";
}

std::string Formatted(const char* format, double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

std::string AndList(const std::vector<std::string>& items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

std::string Escaped(std::string_view text, Escapes escapes) {
  std::string escaped;
  for (const char c : Printable(text)) {
    const auto* found = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
    escaped += found == escapes.end() ? std::string_view(&c, 1) : found->second;
  }
  return escaped;
}

std::string XmlText(std::string_view text) {
  return Escaped(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
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
