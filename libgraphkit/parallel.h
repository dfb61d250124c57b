// Work on several threads: the one loop of the library, and the threads below it. An exception of a
// thread reaches the caller as if the loop had run in its own thread: running out of memory is one
// line to the user, wherever it happens.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace graphkit {

// Processors, at least 1.
size_t Cores();

// Runs body(0) … body(count - 1), begun in that order, on up to so many threads, this one among
// them; returns when all that were begun are over. After an exception nothing more is begun, and
// the one of the smallest index is thrown here.
void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& body);

// Threads that run beside this one: each runs `work` once, which must not throw. Joined when the
// team is destroyed.
class ThreadTeam {
 public:
  // Fewer threads, or none, where the system gives no more.
  ThreadTeam(size_t count, std::function<void()> work);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  size_t size() const { return threads_.size(); }

 private:
  const std::function<void()> work_;
  std::vector<std::thread> threads_;
};

}  // namespace graphkit
