// What the tool says to people, on stderr. stdout is for data alone.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

// Whether colour and moving progress lines make sense there: a terminal, not a dumb one, and
// NO_COLOR (no-color.org) unset.
bool ColourOnStdout();
bool ColourOnStderr();

// Columns of the terminal behind stdout; `otherwise` in a pipe.
int TerminalWidth(int otherwise = 100);

// "graphkit: <text>", one line whatever the text holds: control characters are escaped.
void PrintError(std::string_view text);
// The same, and gives the exit code that belongs to the error.
int PrintError(const Error& error);
void PrintWarning(std::string_view text);
void PrintNote(std::string_view text);

}  // namespace graphkit
