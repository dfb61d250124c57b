// Says what takes long: nothing in the first second, then what is being done and for how long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>

#include "libgraphkit/parallel.h"

namespace graphkit {

// Speaks on stderr from its construction to its destruction: on a terminal one line that counts the
// seconds and disappears at the end, elsewhere one line, once.
class Progress {
 public:
  explicit Progress(std::string doing);  // "reading trace.json"
  // "analyzing trace.json: 1 200 of 10 000 graphs", as done() counts up; of one graph nothing.
  Progress(std::string doing, size_t graphs);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  std::atomic<size_t>* done() { return &done_graphs_; }

 private:
  void Run();
  void Show();
  std::string Text() const;

  std::string doing_;
  size_t graphs_ = 0;
  std::atomic<size_t> done_graphs_ = 0;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  ThreadTeam thread_;  // the last: it uses all of the above
};

}  // namespace graphkit
