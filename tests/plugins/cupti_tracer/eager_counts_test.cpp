#include "plugins/cupti_tracer/recorder/eager_counts.h"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

using Lines = std::vector<std::string>;
using Outcome = EagerCounts::Outcome;

Call KernelOn(uint64_t stream) {
  Call call = Script::Of(CallKind::kWork);
  call.stream = stream;
  call.kernel.function = 0x700;
  return call;
}

// As the glue does it: without the lock, and under it where that is due.
void Count(Script& s, ThreadState& thread, const Call& call) {
  const Outcome counted = s.recorder.eager_counts().Count(thread, call);
  if (counted != Outcome::kCounted) s.recorder.SettleCount(thread, call, counted);
}

TEST_CASE("eager work is counted by stream, and written when asked for") {
  Script s;
  s.CreateStream(kMain);
  s.CreateStream(kSide);
  for (int i = 0; i < 3; ++i) Count(s, s.thread, KernelOn(kMain));
  Call copy = Script::Of(CallKind::kWork);
  copy.stream = kSide;
  copy.work_kind = NodeKind::kMemcpy;
  copy.own.Touch(0x1000, 64, false);
  copy.own.Touch(0x2000, 64, true);
  Count(s, s.thread, copy);
  Call set = copy;
  set.work_kind = NodeKind::kMemset;
  Count(s, s.thread, set);
  CHECK(s.Records("eager").empty());
  s.recorder.WriteCounts(7);
  CHECK(s.Records("eager") ==
        Lines{R"({"type":"eager","stream":0,"thread":0,"kernels":3})",
              R"({"type":"eager","stream":1,"thread":0,"copies":1,"copied_bytes":64,"others":1})"});
  s.recorder.WriteCounts(8, true);  // nothing since, and it is known that there was some
  CHECK(s.Records("eager").size() == 2);
}

TEST_CASE("that there was no eager work is written once") {
  Script s;
  s.recorder.WriteCounts(7);
  CHECK(s.Records("eager").empty());
  s.recorder.WriteCounts(8, true);
  s.recorder.WriteCounts(9, true);
  CHECK(s.Records("eager") == Lines{R"({"type":"eager"})"});
}

TEST_CASE("a handle that stands for another stream counts for that one") {
  Script s;
  s.CreateStream(kMain);
  Count(s, s.thread, KernelOn(kMain));
  s.recorder.WriteCounts(1);
  s.recorder.eager_counts().Forget(kMain);
  Call destroy = Script::Of(CallKind::kStreamDestroy);
  destroy.stream = kMain;
  s.Do(destroy);
  s.CreateStream(kMain);
  Count(s, s.thread, KernelOn(kMain));
  s.recorder.WriteCounts(2);
  CHECK(s.Records("eager") == Lines{R"({"type":"eager","stream":0,"thread":0,"kernels":1})",
                                    R"({"type":"eager","stream":1,"thread":0,"kernels":1})"});
}

TEST_CASE("many threads and streams lose no work, however many there are") {
  constexpr int kThreads = 4, kStreams = 60, kRounds = 200;
  Script s;
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ThreadState state;
      state.tid = 200 + t;
      for (int i = 0; i < kRounds * kStreams; ++i) {
        const Call call = KernelOn(0x1000 + static_cast<uint64_t>(i % kStreams));
        const Outcome counted = s.recorder.eager_counts().Count(state, call);
        if (counted == Outcome::kCounted) continue;
        const std::lock_guard held(lock);
        s.recorder.SettleCount(state, call, counted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  s.recorder.WriteCounts(1);
  uint64_t kernels = 0;
  for (const std::string& line : s.Records("eager")) {
    const size_t at = line.find("\"kernels\":");
    REQUIRE(at != std::string::npos);
    kernels += std::stoull(line.substr(at + 10));
  }
  CHECK(kernels == uint64_t{kThreads} * kStreams * kRounds);
}

}  // namespace
}  // namespace graphkit
