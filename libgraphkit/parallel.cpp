#include "libgraphkit/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace graphkit {

size_t Cores() { return std::max(1u, std::thread::hardware_concurrency()); }

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

void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;  // of what follows
  size_t failed = count;
  std::exception_ptr failure;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
      }
    }
  };
  {
    const ThreadTeam others(std::max<size_t>(1, std::min(threads, count)) - 1, work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace graphkit
