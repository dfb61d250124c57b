#include "libgraphkit/model/file_about.h"

#include <cctype>
#include <string_view>

namespace graphkit {
namespace {

// As one word of a POSIX shell.
std::string ShellWord(const std::string& text) {
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
