#include "libgraphkit/io/merge/same_process.h"

#include <algorithm>
#include <cstdlib>

#include "libgraphkit/io/merge/same_memory.h"

namespace graphkit {
namespace {

constexpr int64_t kOneSecond = 1'000'000'000;
constexpr size_t kEnough = 4;  // delays, to judge them

constexpr const char* kApartHint =
    "import joins files of one process; graphkit analyze takes traces of several";

// True when most are as long as the others.
bool Agree(const std::vector<int64_t>& differences) {
  const int64_t median = MedianOf(differences);
  const auto near = std::ranges::count_if(differences, [&](int64_t difference) {
    return difference > median - kClocksAgree && difference < median + kClocksAgree;
  });
  return 4 * near >= 3 * std::ssize(differences);
}

std::string SecondsText(int64_t ns) {
  return FormatCount(static_cast<uint64_t>(ns / kOneSecond)) + " s";
}

// Why they can't be of one process; empty: they may be.
std::string Contradiction(const ProcessEvidence& evidence, const std::string& trace) {
  const bool most = 2 * evidence.seen > evidence.segments;
  if (evidence.whole && evidence.saw_driver && evidence.segments > 0 && !most) {
    return FormatCount(evidence.seen) + " of its " + FormatCount(evidence.segments) +
           " segments are memory that the driver gave there";
  }
  if (evidence.trace_time && evidence.snapshot_time) {
    const auto &run = *evidence.trace_time, &history = *evidence.snapshot_time;
    if (history.end < run.begin - kClocksApart) {
      return "its history ended " + SecondsText(run.begin - history.end) + " before " + trace +
             " began";
    }
    if (evidence.whole && history.begin > run.end + kClocksApart) {
      return "its history began " + SecondsText(history.begin - run.end) + " after " + trace +
             " had ended";
    }
  }
  if (evidence.differences.size() >= kEnough && !Agree(evidence.differences)) {
    return "its segments have addresses of memory there, but were allocated at other times";
  }
  return {};
}

}  // namespace

Result<void> OfOneProcess(std::span<const MergeInput* const> topologies) {
  const MergeInput* first = nullptr;
  for (const MergeInput* input : topologies) {
    const Process& process = input->imported.trace.process;
    if (process.device == DeviceKind::kImported) continue;
    if (first == nullptr) first = input;
    const Process& known = first->imported.trace.process;
    if (known.pid == process.pid && known.program == process.program) continue;
    const auto of = [](const Process& one) {
      return one.program + " (process " + std::to_string(one.pid) + ")";
    };
    return Error{.message = "it is of " + of(process) + ", and " + first->name + " of " + of(known),
                 .hint = kApartHint,
                 .file = input->name};
  }
  return {};
}

void CountSeen(const Trace& snapshot, const Trace& trace, ProcessEvidence* evidence) {
  const BlocksByAddress given = DriverBlocks(trace), segments = DriverBlocks(snapshot);
  evidence->saw_driver = !given.empty();
  evidence->segments = segments.size();
  for (const auto& [address, block] : segments) evidence->seen += given.contains(address);
}

Result<std::string> JudgeProcess(const ProcessEvidence& evidence, const std::string& trace,
                                 const std::string& snapshot) {
  const std::string contradiction = Contradiction(evidence, trace);
  if (!contradiction.empty()) {
    return Error{.message = "it is of another process than " + trace + ": " + contradiction,
                 .hint = kApartHint,
                 .file = snapshot};
  }
  if (evidence.segments > 0 && evidence.seen == evidence.segments) {
    if (evidence.differences.size() < kEnough) return std::string();
    const int64_t apart = std::abs(MedianOf(evidence.differences));
    if (apart < kClocksAgree) return std::string();
    return snapshot + " has the same memory as " + trace + ", but " +
           FormatCount(static_cast<uint64_t>(apart / (kOneSecond / 1000))) +
           " ms apart: is it of the same process?";
  }
  if (evidence.seen == 0) {
    return "nothing says whether " + snapshot + " is of the process of " + trace +
           ": no memory is in both";
  }
  return FormatCount(evidence.segments - evidence.seen) + " of the " +
         FormatCount(evidence.segments) + " segments of " + snapshot +
         " are no memory that the driver gave in " + trace + ": is it of the same process?";
}

}  // namespace graphkit
