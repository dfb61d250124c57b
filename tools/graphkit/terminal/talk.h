// The tool's messages to people, on stderr (stdout is for data alone), and its exit codes.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

// True if colour and moving progress lines make sense there: a terminal, not a dumb one, and
// NO_COLOR (no-color.org) unset.
bool ColourOnStdout();
bool ColourOnStderr();

bool StdoutIsTerminal();
// True if the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG).
bool LocaleIsUtf8();

// Columns of the terminal behind stdout; in a pipe those that COLUMNS says, else `otherwise`.
int TerminalWidth(int otherwise = 100);

// "graphkit: <text>", one line whatever the text holds: control characters are escaped.
void PrintError(std::string_view text);
// The same, and gives the exit code that belongs to the error.
int PrintError(const Error& error);
void PrintWarning(std::string_view text);
void PrintNote(std::string_view text);

// One line on a terminal that is there until something else is said, or until it is cleared.
void ShowLine(std::string_view text);
void ClearLine();

// The exit codes of the process (docs/cli.md). Several at once: 2 before 3 before 1.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;      // a verdict: the check, the verification failed
inline constexpr int kExitBad = 2;         // bad usage or input
inline constexpr int kExitIncomplete = 3;  // made from incomplete input, and still shown

// `trace` ends with the program's own code; these are graphkit's (as env(1) and timeout(1) have
// them).
inline constexpr int kExitTrace = 125;          // graphkit failed
inline constexpr int kExitNotExecutable = 126;  // the program can't be executed
inline constexpr int kExitNotFound = 127;       // there is no such program

inline int ExitCodeOf(const Error& error) {
  return error.kind == Error::Kind::kIncomplete ? kExitIncomplete : kExitBad;
}

}  // namespace graphkit
