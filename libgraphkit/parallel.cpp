#include "libgraphkit/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

thread_local size_t core_share = std::numeric_limits<size_t>::max();

// 0: not said.
size_t ThreadsWanted() {
  const char* text = std::getenv("GRAPHKIT_THREADS");
  return ParseNumber<size_t>(text == nullptr ? "" : text).value_or(0);
}

}  // namespace

size_t Cores() {
  const size_t wanted = ThreadsWanted();
  const size_t cores = wanted != 0 ? wanted : std::thread::hardware_concurrency();
  return std::clamp<size_t>(cores, 1, core_share);
}

size_t CoresFor(bool large) { return large || ThreadsWanted() != 0 ? Cores() : 1; }

CoreShare::CoreShare(size_t most)
    : before_(std::exchange(core_share, std::max<size_t>(1, std::min(most, core_share)))) {}
CoreShare::~CoreShare() { core_share = before_; }

ThreadTeam::ThreadTeam(size_t count, std::function<void()> work) : work_(std::move(work)) {
  try {
    threads_.reserve(count);
    while (threads_.size() < count) threads_.emplace_back([this] { work_(); });
  } catch (const std::exception&) {  // no memory, or no more threads
  }
}

ThreadTeam::~ThreadTeam() {
  for (std::thread& thread : threads_) thread.join();
}

namespace {

// One loop, of which threads take indices.
struct Loop {
  size_t count;
  const std::function<void(size_t)>& body;
  std::atomic<size_t> next = 0;
  // The crew's lock guards what follows.
  size_t threads = 0;     // that run bodies of it
  size_t failed = count;  // the smallest index of an exception
  std::exception_ptr failure = nullptr;

  bool open() const { return next < count; }
  bool over() const { return !open() && threads == 0; }
};

// The threads of an outermost loop, and the loops that they work on. One that waits inside of a
// body for the last bodies of a loop does nothing else meanwhile, so that none ever waits for what
// lies below it on its own stack.
class Crew {
 public:
  // An inner loop, by the thread that wants it run.
  void Run(Loop* loop) {
    std::unique_lock lock(mutex_);
    Open(loop);
    RunBodies(loop, &lock);
    changed_.wait(lock, [&] { return loop->over(); });
    std::erase(loops_, loop);
  }

  void RunOutermost(Loop* loop) {
    std::unique_lock lock(mutex_);
    if (loops_.empty()) Open(loop);
    while (!loops_.front()->over()) {
      const auto open = std::ranges::find_if(loops_, [](const Loop* some) { return some->open(); });
      if (open != loops_.end()) {
        RunBodies(*open, &lock);
      } else {
        changed_.wait(lock);
      }
    }
  }

 private:
  void Open(Loop* loop) {
    loops_.push_back(loop);
    changed_.notify_all();
  }

  // Until no more are left to begin.
  void RunBodies(Loop* loop, std::unique_lock<std::mutex>* lock) {
    ++loop->threads;
    lock->unlock();
    size_t index = loop->next++;
    std::exception_ptr failure;
    try {
      for (; index < loop->count; index = loop->next++) loop->body(index);
    } catch (...) {
      failure = std::current_exception();
      loop->next = loop->count;
    }
    lock->lock();
    if (failure && index < loop->failed) {
      loop->failed = index;
      loop->failure = std::move(failure);
    }
    if (--loop->threads == 0) changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;  // a loop was opened, or is over
  std::vector<Loop*> loops_;         // the outermost first
};

thread_local Crew* own_crew = nullptr;

// Of an outermost loop: this thread, and so many others.
void RunOnCrew(Loop* loop, size_t others) {
  Crew crew;
  const auto work = [&] {
    own_crew = &crew;
    crew.RunOutermost(loop);
    own_crew = nullptr;
  };
  const ThreadTeam team(others, work);
  work();
}

}  // namespace

void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& body) {
  if (std::min(count, threads) < 2) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Loop loop{.count = count, .body = body};
  if (own_crew != nullptr) {
    own_crew->Run(&loop);
  } else {
    RunOnCrew(&loop, threads - 1);
  }
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace graphkit
