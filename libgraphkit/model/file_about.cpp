#include "libgraphkit/model/file_about.h"

#include <cctype>
#include <cstdio>
#include <string_view>

#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

// With what a terminal would obey as \x1b.
std::string EscapedWord(const std::string& text) {
  std::string quoted = "$'";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = byte >= 0x20 && byte < 0x7f && letter != '\'' && letter != '\\';
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    quoted += plain ? std::string(1, letter) : std::string(escape);
  }
  return quoted + "'";
}

// As one word of a POSIX shell.
std::string ShellWord(const std::string& text) {
  if (Printable(text) != text) return EscapedWord(text);
  constexpr std::string_view kPlain = "_-./+:,@%=";
  bool plain = !text.empty();
  std::string quoted = "'";
  for (const char letter : text) {
    const bool alnum = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    plain = plain && (alnum || kPlain.find(letter) != kPlain.npos);
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return plain ? text : quoted + "'";
}

}  // namespace

NextCommand CommandFor(NextCommand command, const std::string& file) {
  constexpr std::string_view kPlace = "FILE";
  const size_t at = command.command.find(kPlace);
  if (at != command.command.npos) command.command.replace(at, kPlace.size(), ShellWord(file));
  return command;
}

}  // namespace graphkit
