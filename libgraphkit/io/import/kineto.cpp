#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/profile.h"

namespace graphkit {

bool IsKineto(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const bool json = head[begin] == '{' || head[begin] == '[';
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  return json && (has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"ph\""));
}

Result<Imported> ReadKineto(std::string_view bytes) {
  Profile profile;
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
  Result<ProfileCounts> counts = ReadWork(
      [&](const TakeKinetoEvent& take) { return ForEachKinetoEvent(*source, take); }, &profile);
  if (!counts) return counts.error();
  TraceMaker make;
  make.trace.process.unknown_memory = "a profile has no memory";
  NodeTimes times;
  for (const ReplayedWork& work : profile.replayed) {
    if (work.tool_id != 0) times.Add(RunOf(work, profile));
  }
  if (times.empty()) {
    counts->launched_work = MakeLaunchedGraphs(profile, make);
  } else {
    times.MakeGraphs(make);
  }
  make.Note(ProfileNote(times, *counts, "PyTorch's profiler names them with CUDA 12 and later"));
  Imported imported =
      make.Finish(Counted(counts->events, "event") + ", " + ProfileSummary(times, *counts));
  imported.times = times.Times();
  return imported;
}

}  // namespace graphkit
