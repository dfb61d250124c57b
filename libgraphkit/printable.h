// Names of files, and bytes of input, in messages: on one line, and without control characters,
// which a terminal would obey.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace graphkit {

// Valid UTF-8 on one line: control characters as \n, \t, \x1b; line separators and what changes the
// direction of text as \u202e; each byte that is no UTF-8, and what is no character, as U+FFFD.
std::string Printable(std::string_view text);

// Bytes of the UTF-8 sequence at the front of a text that isn't empty; 0: there is none (overlong
// forms, surrogates and what lies beyond U+10FFFF aren't UTF-8 either; RFC 3629 §4).
size_t Utf8Length(std::string_view text);

// Columns that valid UTF-8 takes: its code points (wide characters count as one).
size_t DisplayWidth(std::string_view text);

// At most `columns` wide: the middle gives way to "…". Expects valid UTF-8, never cuts a character.
std::string Ellipsize(std::string_view text, size_t columns);
// The same of a title that begins with its line: the end gives way.
std::string CutAtEnd(std::string_view text, size_t columns);

// The text as one word of a POSIX shell.
std::string ShellWord(const std::string& text);

// The names of C++ functions, as compilers write them into object files.

// The C++ name behind a mangled one; none: it isn't mangled.
inline std::optional<std::string> DemangledName(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return std::nullopt;
  return text.get();
}

}  // namespace graphkit
