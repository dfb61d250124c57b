#include "tools/graphkit/terminal/progress.h"

#include <cmath>
#include <exception>

#include "libgraphkit/units.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

std::string ProgressText(const std::string& doing, size_t done, size_t total, double seconds) {
  const auto whole = [](double number) { return FormatCount(static_cast<uint64_t>(number)); };
  if (done == 0 || done >= total) return doing + " … " + whole(seconds) + " s";
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const double left = std::ceil(seconds * (1 - share) / share);
  const bool minutes = left >= 120;
  return doing + ": " + FormatPercent(std::floor(share * 100) / 100, 0) + ", about " +
         (minutes ? whole(left / 60) + " min" : whole(left) + " s") + " left";
}

// Without a thread, or without memory, nothing is said: what is being done goes on.
Progress::Progress(std::string doing) : Progress(std::move(doing), 0) {}

Progress::Progress(std::string doing, size_t total)
    : doing_(std::move(doing)), total_(total), thread_(1, [this] { Run(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
}

void Progress::Run() {
  try {
    Show();
  } catch (const std::exception&) {
  }
}

void Progress::Next(std::string doing, size_t total) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
  total_ = total;
  done_count_ = 0;
  begun_ = std::chrono::steady_clock::now();
}

void Progress::Show() {
  std::unique_lock lock(mutex_);
  const bool terminal = ColourOnStderr();
  for (int times = 0;; ++times) {
    if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) break;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
    if (terminal) {
      ShowLine("graphkit: " + ProgressText(doing_, done_count_, total_, since.count()));
    } else if (times == 0) {
      PrintNote(doing_ + " …");
    }
  }
  ClearLine();
}

}  // namespace graphkit
