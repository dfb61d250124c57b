// Work that may crash or hang because it calls other people's libraries: done in a process of its
// own, which answers with text.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace graphkit {

struct ChildAnswer {
  std::string text;   // all of it only when the child ended by itself
  int signal = 0;     // that killed it
  bool late = false;  // it was killed because its time was over
  bool started = true;

  bool whole() const { return started && signal == 0 && !late; }
  // "was killed by signal 11 (Segmentation fault)", "didn't answer in time": for the end of a
  // sentence.
  std::string Failure() const;
};

struct ChildOptions {
  std::optional<std::chrono::milliseconds> limit;  // the child is killed after it
  std::string doing;  // said as progress while waiting: "laying out with Graphviz"
};

// The status that a child ends with, as waitpid(2) has it.
int WaitFor(pid_t child);

// Runs `work` in a forked child and gives what it returns. The child's own output goes nowhere. The
// caller has no other thread running: a lock that one held would stay locked in the child. (So
// progress is `doing`, whose thread starts after the fork.)
ChildAnswer RunInChild(const std::function<std::string()>& work, const ChildOptions& options = {});

// A command's stdout; its stderr and stdin are empty.
ChildAnswer OutputOf(const std::vector<std::string>& words, const ChildOptions& options = {});

}  // namespace graphkit
