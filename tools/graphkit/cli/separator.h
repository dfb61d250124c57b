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

// Before parsing: `where … --at launch 17` names one moment.
inline void JoinLaunch(std::vector<std::string>& args) {
  const auto at = std::ranges::find(args, "--at");
  if (args.empty() || args.front() != "where" || args.end() - at < 3 || at[1] != "launch") return;
  at[1] += ":" + at[2];
  args.erase(at + 2);
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
