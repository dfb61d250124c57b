// `--` in `graphkit trace [options] [--] program args…`. CLI11 takes a `--` out of a subcommand's
// arguments and gives what follows to the main command, so it is hidden from it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace graphkit {

inline constexpr const char* kHiddenSeparator = "\x1f--";

// Before parsing: hides the first `--` behind the name of a subcommand that runs a program.
inline void HideSeparator(std::vector<std::string>& args) {
  if (args.empty() || args.front() != "trace") return;
  const auto separator = std::ranges::find(args, "--");
  if (separator != args.end()) *separator = kHiddenSeparator;
}

// After parsing: whether the program was separated from the options. Leaves the program's words as
// they were given.
inline bool TakeSeparator(std::vector<std::string>& words) {
  if (!words.empty() && words.front() == kHiddenSeparator) {
    words.erase(words.begin());
    return true;
  }
  std::ranges::replace(words, std::string(kHiddenSeparator), std::string("--"));
  return false;
}

}  // namespace graphkit
