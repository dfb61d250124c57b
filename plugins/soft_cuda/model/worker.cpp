#include "plugins/soft_cuda/model/worker.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

namespace graphkit::soft {
namespace {

// How often a wait for a value in memory looks at it.
constexpr std::chrono::microseconds kLook{50};

// The one that forks are told of: the device's.
Worker* forked = nullptr;

std::chrono::milliseconds Patience() {
  const char* text = std::getenv("GRAPHKIT_SOFT_PATIENCE_MS");
  const long asked = text != nullptr ? std::atol(text) : 0;
  return std::chrono::milliseconds(asked > 0 ? asked : 10'000);
}

}  // namespace

Worker::Worker() : patience_(Patience()) {
  if (const char* seed = std::getenv("GRAPHKIT_SOFT_ORDER")) {
    random_.emplace(std::strtoull(seed, nullptr, 10));
  }
}

bool Worker::CanStart(const Work& work) {
  return std::all_of(work.after.begin(), work.after.end(), Done) && (!work.ready || work.ready());
}

WorkMark Worker::Add(const std::shared_ptr<WorkLine>& line, Work work) {
  Lock lock(mutex_);
  work.order = ++added_;
  const uint64_t number = ++line->added;
  const bool now = !random_ && !work.on_worker && line->done + 1 == number && CanStart(work);
  if (now) {
    if (work.run) work.run();
    ++line->done;
    ++done_;
    return {};
  }
  if (line->waiting.empty()) lines_.push_back(line);
  line->waiting.push_back(std::move(work));
  if (!started_) Start();
  changed_.notify_all();
  return {line, number};
}

WorkMark Worker::End(const std::shared_ptr<WorkLine>& line) {
  const Lock lock(mutex_);
  return line->done == line->added ? WorkMark{} : WorkMark{line, line->added};
}

bool Worker::IsDone(const WorkMark& mark) {
  const Lock lock(mutex_);
  return Done(mark);
}

bool Worker::AreDone(std::span<const WorkMark> marks) {
  const Lock lock(mutex_);
  return std::all_of(marks.begin(), marks.end(), Done);
}

std::optional<std::string> Worker::Wait(std::span<const WorkMark> marks) {
  return WaitUntil([marks] { return std::all_of(marks.begin(), marks.end(), Done); });
}

std::optional<std::string> Worker::WaitForAll() {
  std::vector<WorkMark> ends;
  {
    const Lock lock(mutex_);
    for (const auto& line : lines_) ends.push_back({line, line->added});
  }
  return Wait(ends);
}

template <typename IsOver>
std::optional<std::string> Worker::WaitUntil(IsOver is_over) {
  Lock lock(mutex_);
  uint64_t seen = done_;
  auto end = std::chrono::steady_clock::now() + patience_;
  while (!is_over()) {
    if (changed_.wait_until(lock, end) != std::cv_status::timeout) continue;
    if (seen == done_ && !busy_ && !WaitsForAnother() && !is_over()) return WhatWaits();
    seen = done_;
    end = std::chrono::steady_clock::now() + patience_;
  }
  return std::nullopt;
}

bool Worker::WaitsForAnother() const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [](const auto& line) { return line->waiting.front().is_of_another; });
}

// The first of the lines' heads that waits for something outside of all lines, else the first.
std::string Worker::WhatWaits() const {
  const Work* found = nullptr;
  for (const auto& line : lines_) {
    const Work& head = line->waiting.front();
    if (found == nullptr || (head.ready && !found->ready)) found = &head;
  }
  return found != nullptr ? found->what : "work";
}

// Signals are for the program's own threads.
void Worker::Start() {
  started_ = true;
  if (forked == nullptr) pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  forked = this;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { DoWork(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::shared_ptr<WorkLine> Worker::Choose() {
  std::vector<std::shared_ptr<WorkLine>> able;
  for (const auto& line : lines_) {
    if (CanStart(line->waiting.front())) able.push_back(line);
  }
  if (able.empty()) return nullptr;
  if (random_) return able[(*random_)() % able.size()];
  return *std::min_element(able.begin(), able.end(), [](const auto& a, const auto& b) {
    return a->waiting.front().order < b->waiting.front().order;
  });
}

void Worker::DoWork() {
  Lock lock(mutex_);
  for (;;) {
    const std::shared_ptr<WorkLine> line = Choose();
    if (line == nullptr) {
      const bool looks = std::any_of(lines_.begin(), lines_.end(), [](const auto& waiting) {
        return waiting->waiting.front().ready != nullptr;
      });
      looks ? static_cast<void>(changed_.wait_for(lock, kLook)) : changed_.wait(lock);
      continue;
    }
    if (const std::function<void()> run = std::move(line->waiting.front().run)) {
      busy_ = true;
      lock.unlock();
      run();
      lock.lock();
      busy_ = false;
    }
    line->waiting.pop_front();
    if (line->waiting.empty()) std::erase(lines_, line);
    ++line->done;
    ++done_;
    changed_.notify_all();
  }
}

void Worker::BeforeFork() { forked->mutex_.lock(); }
void Worker::AfterForkInParent() { forked->mutex_.unlock(); }

// The child has neither the thread nor what it was doing: what waited counts as done.
void Worker::AfterForkInChild() {
  Worker& worker = *forked;
  for (const auto& line : worker.lines_) {
    line->waiting.clear();
    line->done = line->added;
  }
  worker.lines_.clear();
  worker.started_ = worker.busy_ = false;
  new (&worker.changed_) std::condition_variable;
  worker.mutex_.unlock();
}

}  // namespace graphkit::soft
