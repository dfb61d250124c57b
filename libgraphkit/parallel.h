// Work on several threads: the one loop of the library, and the threads below it. An exception of a
// thread reaches the caller as if the loop had run in its own thread: running out of memory is one
// line to the user, wherever it happens.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace graphkit {

// Threads to work with here, at least 1: GRAPHKIT_THREADS, or one for each processor that the
// process may use; no more than a CoreShare of this thread allows.
size_t Cores();
// The same where work is large enough to be worth a thread; otherwise what was asked for, or 1.
size_t CoresFor(bool large);

// The share of one of several that work side by side: as long as it lives, Cores() is at most
// that on this thread.
class CoreShare {
 public:
  explicit CoreShare(size_t most);
  ~CoreShare();
  CoreShare(const CoreShare&) = delete;
  CoreShare& operator=(const CoreShare&) = delete;

 private:
  const size_t before_;
};

// Runs body(0) … body(count - 1), begun in that order, on so many threads, this one among them;
// returns when all that were begun are over. After an exception nothing more is begun, and
// the one of the smallest index is thrown here.
//
// A loop inside of a body makes no threads: those of the outer loop that have nothing more to begin
// there help with it. So what takes longest may be cut into pieces where it is, and no more threads
// run than were asked for.
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
