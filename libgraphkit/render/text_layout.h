// Laying out text for a terminal or a pipe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/printable.h"
#include "libgraphkit/units.h"

namespace graphkit {

// How a text view looks. The defaults are those of a pipe.
struct TextStyle {
  size_t width = 100;   // columns; lines are wrapped there
  bool colour = false;  // ANSI colours, and bars
  bool ascii = false;   // nothing but ASCII: what else is written stands for itself in ASCII
  size_t top = 10;      // entries shown of a list that can be long; 0: all
  size_t table = 0;     // columns that a table may take, on a terminal; 0: as many as it needs
  bool operator==(const TextStyle&) const = default;
};

enum class Ink : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen, kBlue };

// Wraps at spaces to the style's width: the first line starts with `first`, the others with as many
// spaces. Ends with a newline. A word that is too long stands on a line of its own.
std::string Wrapped(std::string_view first, std::string_view text, const TextStyle& style);

// "step.cu:17: error: <text>", wrapped; the label in its colour; `where` may be empty.
std::string Labelled(Severity severity, std::string_view text, const TextStyle& style,
                     std::string_view where = {});

// The signs of our own texts in ASCII ("→" is "->", "█" is "#"); all else stays.
std::string Ascii(std::string_view text);

// A bar of full blocks, `columns` long for `most`.
std::string Bar(uint64_t value, uint64_t most, uint64_t columns);

// TextRows of cells, each column as wide as its widest cell, and aligned left or right by its
// letter in `align`: "lrr". Two spaces between columns, none at the end of a line. Where that is
// wider than `style.table`, texts are shortened, and then the columns that are too many stand
// below, in tables that begin with the first column as well.
using TextRow = std::vector<std::string>;
using TextRows = std::vector<TextRow>;
std::string Table(TextRows rows, std::string_view align, std::string_view indent,
                  const TextStyle& style = {});

// The text in at least so many columns, the spaces behind it, or in front of it.
std::string Padded(std::string text, size_t columns, bool right);

// Where a text view goes, and how it looks there.
struct TextOut {
  TextStyle style;
  std::ostream& out;

  template <typename T>
  const TextOut& operator<<(const T& value) const {
    out << value;
    return *this;
  }
  operator std::ostream&() const { return out; }

  std::string Inked(std::string_view text, Ink ink) const;  // unchanged without colour
  // Writes the text wrapped; as a paragraph below an empty line.
  void Wrap(std::string_view first, std::string_view text) const;
  void Paragraph(std::string_view first, std::string_view text) const;

  // The number of entries that are shown of a list of so many.
  size_t Shown(size_t count) const;
  // The line below those: "and 3 more; --top 0 shows all"; empty when all are shown.
  std::string More(size_t count, std::string_view indent) const;
  // The entries that are shown, and the line below them.
  template <typename Entries, typename Render>
  void Top(const Entries& entries, std::string_view indent, Render render) const {
    for (size_t i = 0; i < Shown(entries.size()); ++i) render(entries[i]);
    out << More(entries.size(), indent);
  }
  // The same as rows of a table below its head, which may be empty.
  template <typename Entries, typename ToRow>
  void TopTable(TextRow head, std::string_view align, std::string_view indent,
                const Entries& entries, ToRow to_row) const {
    TextRows rows;
    if (!head.empty()) rows.push_back(std::move(head));
    for (size_t i = 0; i < Shown(entries.size()); ++i) rows.push_back(to_row(entries[i]));
    out << Table(std::move(rows), align, indent, style) << More(entries.size(), indent);
  }
};

// A number as printf formats it: "%.1f ns".
std::string Formatted(const char* format, double number);

// "a", "a and b", "a, b and c".
std::string AndList(const std::vector<std::string>& items);

// The text, printable, with other texts in place of some characters.
using Escapes = std::initializer_list<std::pair<char, std::string_view>>;
std::string Escaped(std::string_view text, Escapes escapes);

// Text from a trace in XML and in links.

// Printable text for an XML attribute or element, and for Graphviz' HTML-like labels.
std::string XmlText(std::string_view text);

// A path as a URI reference (RFC 3986): what isn't unreserved or "/" is percent-encoded.
std::string PathUri(std::string_view path);

}  // namespace graphkit
