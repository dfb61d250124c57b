// Says what takes long: nothing in the first second, then what is being done and for how long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "libgraphkit/parallel.h"

namespace graphkit {

// Speaks on stderr from its construction to its destruction: on a terminal one line that counts the
// seconds and disappears at the end, elsewhere one line, once.
class Progress {
 public:
  explicit Progress(std::string doing);  // "reading trace.json"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Run();
  void Show();

  std::string doing_;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  ThreadTeam thread_;  // the last: it uses all of the above
};

}  // namespace graphkit
