// The description of a file: its kind, figures of it, and commands that go on from it.
#pragma once

#include <string>
#include <vector>

namespace graphkit {

// A command that goes on from here, and what it shows.
struct NextCommand {
  std::string command;
  std::string shows;
  bool operator==(const NextCommand&) const = default;
};

struct FileAbout {
  std::string kind;                     // "torch-snapshot", "trace", "plan", …: the name in JSON
  std::string what;                     // "PyTorch memory snapshot"
  std::vector<std::string> facts = {};  // "1 device", "5163 events", …
  std::vector<NextCommand> next = {};
  bool operator==(const FileAbout&) const = default;
};

}  // namespace graphkit
