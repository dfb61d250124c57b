// Work that streams have taken and not done yet. It is done by one thread of the device, in lines:
// what is in one line is done in its order, and a work may wait for the ends of others.
//
// Deterministic unless GRAPHKIT_SOFT_ORDER=seed is set: of the works that can be done, the one that
// was added first. With a seed it is any of them, and nothing is done during the call that adds it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace graphkit::soft {

struct WorkLine;

// The end of one work. The default is done.
struct WorkMark {
  std::shared_ptr<WorkLine> line;
  uint64_t number = 0;  // done when the line has done so many
};

struct Work {
  std::string what = {};             // "a host function", for who waits in vain
  std::vector<WorkMark> after = {};  // besides what is in the line before it
  std::function<bool()> ready = {};  // null: always; asked again and again
  std::function<void()> run = {};    // null: nothing to do
  bool on_worker = false;            // never during the call that adds it
  bool is_of_another = false;        // waits for another process, for as long as that takes
  uint64_t order = 0;                // set when it is added
};

struct WorkLine {
  std::deque<Work> waiting;
  uint64_t added = 0;
  uint64_t done = 0;
};

class Worker {
 public:
  Worker();

  // Adds to the end of a line. Where nothing is before it, it is done at once, unless it is a host
  // function's or an order was asked for. Returns its end.
  WorkMark Add(const std::shared_ptr<WorkLine>& line, Work work);
  WorkMark End(const std::shared_ptr<WorkLine>& line);

  bool IsDone(const WorkMark& mark);
  bool AreDone(std::span<const WorkMark> marks);
  bool always_adds() const { return random_.has_value(); }

  // Waits for all of them. A text: they won't be done, and why; nothing has moved for
  // GRAPHKIT_SOFT_PATIENCE_MS (10 000). A host function may take as long as it likes.
  std::optional<std::string> Wait(std::span<const WorkMark> marks);
  std::optional<std::string> WaitForAll();

 private:
  using Lock = std::unique_lock<std::mutex>;

  static bool Done(const WorkMark& mark) {
    return mark.line == nullptr || mark.line->done >= mark.number;
  }
  static bool CanStart(const Work& work);
  void Start();
  void DoWork();
  std::shared_ptr<WorkLine> Choose();
  std::string WhatWaits() const;
  bool WaitsForAnother() const;
  template <typename IsOver>
  std::optional<std::string> WaitUntil(IsOver is_over);
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<WorkLine>> lines_;  // that have something waiting
  std::optional<std::mt19937_64> random_;
  std::chrono::milliseconds patience_;
  uint64_t added_ = 0;
  uint64_t done_ = 0;
  bool started_ = false;
  bool busy_ = false;  // the thread is inside a work
};

}  // namespace graphkit::soft
