#include "tools/graphkit/terminal/talk.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

bool ColourOn(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

// The line of what takes long, if there is one; what is said otherwise takes its place.
std::mutex line_mutex;
bool line_is_shown = false;

void EraseLine() {
  if (line_is_shown) std::fputs("\r\x1b[K", stderr);
  line_is_shown = false;
}

void Say(const char* colour, std::string_view label, std::string_view text) {
  std::string line = "graphkit: ";
  if (!label.empty()) line += std::string(label) + ": ";
  if (ColourOnStderr()) line = std::string("\x1b[") + colour + "m" + line + "\x1b[0m";
  line += Printable(text) + "\n";
  const std::lock_guard lock(line_mutex);
  EraseLine();
  std::fputs(line.c_str(), stderr);  // in one piece: lines of several processes don't mix
}

}  // namespace

bool ColourOnStdout() { return ColourOn(STDOUT_FILENO); }
bool ColourOnStderr() { return ColourOn(STDERR_FILENO); }

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return strcasestr(value, "UTF-8") != nullptr || strcasestr(value, "UTF8") != nullptr;
  }
  return false;
}

int TerminalWidth(int otherwise) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int said = columns == nullptr ? 0 : std::atoi(columns);
  return said > 0 ? said : otherwise;
}

void PrintError(std::string_view text) { Say("1;31", "", text); }
void PrintWarning(std::string_view text) { Say("1;33", "warning", text); }
void PrintNote(std::string_view text) { Say("2", "", text); }

void ShowLine(std::string_view text) {
  const std::lock_guard lock(line_mutex);
  EraseLine();
  std::fputs(Printable(text).c_str(), stderr);
  line_is_shown = true;
}

void ClearLine() {
  const std::lock_guard lock(line_mutex);
  EraseLine();
}

int PrintError(const Error& error) {
  PrintError(Describe(error));
  return ExitCodeOf(error);
}

}  // namespace graphkit
