#include "tools/graphkit/cli/progress.h"

#include <chrono>
#include <cstdio>
#include <exception>

#include "libgraphkit/render/printable.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/cli/talk.h"

namespace graphkit {

// Without a thread, or without memory, nothing is said: what is being done goes on.
Progress::Progress(std::string doing) : Progress(std::move(doing), 0) {}

Progress::Progress(std::string doing, size_t graphs)
    : doing_(std::move(doing)), graphs_(graphs), thread_(1, [this] { Run(); }) {}

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

std::string Progress::Text() const {
  const size_t done = done_graphs_;
  if (graphs_ < 2 || done == 0) return doing_;
  return doing_ + ": " + FormatCount(done) + " of " + FormatCount(graphs_) + " graphs";
}

void Progress::Show() {
  std::unique_lock lock(mutex_);
  const bool terminal = ColourOnStderr();
  for (int seconds = 1;; ++seconds) {
    if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) break;
    if (terminal) {
      std::fprintf(stderr, "\r\x1b[Kgraphkit: %s … %d s", Printable(Text()).c_str(), seconds);
    } else if (seconds == 1) {
      PrintNote(Text() + " …");
    }
  }
  if (terminal) std::fputs("\r\x1b[K", stderr);
}

}  // namespace graphkit
