// Runs the traced program: its standard streams are ours, signals sent to us go to it, and its end
// is our end.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphkit {

struct ProgramEnd {
  int exit_code = 0;  // what graphkit ends with: the program's own, 128 + n for a signal, 126, 127
  int signal = 0;     // that killed the program
  int start_error = 0;  // errno, when it could not be executed
};

// The file that would be executed, as the shell finds it; empty: there is none.
std::string FindProgram(const std::string& name);

// Runs `words` with these environment variables set beside ours, and waits for its end.
ProgramEnd RunProgram(const std::vector<std::string>& words,
                      const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace graphkit
