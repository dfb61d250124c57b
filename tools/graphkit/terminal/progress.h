// Says what takes long: nothing in the first second, then what is being done and for how long.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>

#include "libgraphkit/parallel.h"

namespace graphkit {

// Speaks on stderr from its construction to its destruction: on a terminal one line with the
// seconds so far, or, where it is known how much there is to do, with the share that is done and
// the time that the rest will take; it disappears at the end. Elsewhere one line, once.
class Progress {
 public:
  explicit Progress(std::string doing);       // "reading trace.json"
  Progress(std::string doing, size_t total);  // of what done() counts up; 0: unknown
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  std::atomic<size_t>* done() { return &done_count_; }

  // Something else is done from here on.
  void Next(std::string doing, size_t total = 0);

 private:
  void Run();
  void Show();

  std::string doing_;
  size_t total_ = 0;
  std::atomic<size_t> done_count_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  ThreadTeam thread_;  // the last: it uses all of the above
};

// "reading trace.json … 3 s", "reading trace.json: 20%, about 12 s left".
std::string ProgressText(const std::string& doing, size_t done, size_t total, double seconds);

}  // namespace graphkit
