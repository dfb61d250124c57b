#include "tools/graphkit/commands/replay_recorded.h"

#include <utility>
#include <vector>

#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/render/replay/replay.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

// Of each device that has events.
Result<std::vector<DevicePrediction>> Predict(const std::string& path) {
  const Progress progress("replaying " + path);
  Result<TorchSnapshot> snapshot = ReadTorchSnapshot(path);
  if (!snapshot) return snapshot.error();
  std::vector<DevicePrediction> devices;
  for (size_t device = 0; device < snapshot->devices.size(); ++device) {
    if (snapshot->devices[device].count == 0) continue;
    Result<PredictionScore> score = PredictRecorded(*snapshot, device);
    if (!score) return score.error();
    devices.push_back({device, std::move(*score)});
  }
  if (!devices.empty()) return devices;
  return Error{.message = "nothing to judge: it has no history of events",
               .hint = "record one with torch.cuda.memory._record_memory_history()",
               .file = path,
               .kind = Error::Kind::kIncomplete};
}

int ExitOf(PredictionOutcome outcome, const std::string& path) {
  switch (outcome) {
    case PredictionOutcome::kPredicted:
      return kExitOk;
    case PredictionOutcome::kMissed:
      return kExitFailed;
    case PredictionOutcome::kPartlyJudged:
      PrintWarning(path + ": part of the history can't be judged, see \"not judged\"");
      return kExitIncomplete;
    default:
      PrintWarning(path + ": nothing to judge: no allocation in a segment that is known");
      return kExitIncomplete;
  }
}

}  // namespace

int ReplayAgainstRecorded(const std::string& snapshot, Format format, const std::string& output) {
  const Result<std::vector<DevicePrediction>> devices = Predict(snapshot);
  if (!devices) return PrintError(devices.error());
  const Result<void> written = WriteOutput(output, [&](std::ostream& out) {
    if (format == Format::kJson) {
      RenderPredictionJson(*devices, out);
    } else {
      RenderPredictionText(*devices, out);
    }
  });
  if (!written) return PrintError(written.error());
  return ExitOf(OutcomeOf(*devices), snapshot);
}

}  // namespace graphkit
