#include <algorithm>
#include <utility>

#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "libgraphkit/replay/recorded.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/replay/forms.h"
#include "tools/graphkit/replay/render_prediction.h"
#include "tools/graphkit/replay/snapshot_history.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

Result<DevicePrediction> PredictDevice(const TorchSnapshot& snapshot, size_t device) {
  Result<PredictionScore> score = PredictRecorded(snapshot, device);
  if (!score) return score.error();
  return DevicePrediction{device, *std::move(score)};
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

int PredictSnapshot(const ReplayArguments& arguments, const OpenedFile& file) {
  const auto devices = ReplayHistory<DevicePrediction>(file, PredictDevice);
  if (!devices) return PrintError(devices.error());
  const Result<void> written = WriteView(
      arguments.view(), [&](std::ostream& out) { RenderPredictionJson(*devices, out); },
      [&](const TextOut& out) { RenderPredictionText(*devices, out); });
  if (!written) return PrintError(written.error());
  return ExitOf(OutcomeOf(*devices), arguments.file);
}

// The policies that PyTorch may have had; those that place blocks by the segment rules.
Result<std::vector<PolicyKind>> PoliciesFor(const ReplayArguments& arguments) {
  const std::vector<std::string> words =
      arguments.allocators.empty() ? std::vector<std::string>{"defer", "pytorch-v1", "pytorch"}
                                   : arguments.allocators;
  std::vector<PolicyKind> kinds;
  for (const std::string& word : words) {
    const auto policy = std::ranges::find(Policies(), word, &PolicyInfo::name);
    if (policy == Policies().end() || policy->offline) {
      return Error{.message = "replay --against-recorded: '" + word + "' is no online policy",
                   .hint = "use --allocator defer,pytorch, or omit it"};
    }
    kinds.push_back(policy->kind);
  }
  return kinds;
}

std::vector<PolicyPlacements> PlaceCaptures(const Ran& trace,
                                            const std::vector<PolicyKind>& kinds) {
  const Facts facts(trace);
  std::vector<PolicyPlacements> placements;
  for (const PolicyReplay& replay :
       ReplayTrace(facts, kinds, {.config = {}, .missed = false, .bound = false})) {
    placements.push_back({replay.policy, CompareWithRecorded(facts, replay)});
  }
  return placements;
}

int PredictCaptures(const ReplayArguments& arguments, OpenedFile file) {
  const Result<std::vector<PolicyKind>> kinds = PoliciesFor(arguments);
  if (!kinds) return PrintError(kinds.error());
  const Result<Ran> trace = ReadWithMemory(std::move(file));
  if (!trace) return PrintError(trace.error());
  const std::vector<PolicyPlacements> placements = PlaceCaptures(*trace, *kinds);
  const Result<void> written = WriteView(
      arguments.view(), [&](std::ostream& out) { RenderPlacementsJson(placements, out); },
      [&](const TextOut& out) { RenderPlacementsText(placements, *trace, out); });
  if (!written) return PrintError(written.error());
  if (placements.front().found.compared == 0) {
    PrintWarning(arguments.file +
                 ": nothing to compare: no captured block lies in a pool of its own");
    return kExitIncomplete;
  }
  const bool one_fits = std::ranges::any_of(placements, [](const PolicyPlacements& policy) {
    return policy.found.same == policy.found.compared;
  });
  return one_fits ? WarnIncomplete(*trace, arguments.file) : kExitFailed;
}

}  // namespace

int ReplayAgainstRecorded(const ReplayArguments& arguments) {
  Result<OpenedFile> file = OpenInput(arguments.file);
  if (!file) return PrintError(file.error());
  if (!IsSnapshot(*file)) return PredictCaptures(arguments, std::move(*file));
  const bool pytorch = std::ranges::all_of(
      arguments.allocators, [](const std::string& word) { return word == "pytorch"; });
  if (pytorch) return PredictSnapshot(arguments, *file);
  return PrintError(Error{.message = "replay: a snapshot has the history of PyTorch's allocator",
                          .hint = "omit --allocator"});
}

}  // namespace graphkit
