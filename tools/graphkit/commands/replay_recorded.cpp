#include "tools/graphkit/commands/replay_recorded.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "libgraphkit/alloc/recorded/recorded_replay.h"
#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/render/replay/replay.h"
#include "libgraphkit/replay/recorded_placements.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {
namespace {

// Of a file that can be mapped, by its path.
Result<TorchSnapshot> ReadSnapshot(ByteSource& source, const std::string& path) {
  if (path != "-") return ReadTorchSnapshot(path);
  const Result<std::string> bytes = ReadAll(source);
  if (!bytes) return bytes.error();
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(*bytes);
  if (!snapshot) snapshot.error().file = "stdin";
  return snapshot;
}

Result<std::vector<DevicePrediction>> Predict(ByteSource& source, const std::string& path) {
  const Progress progress("replaying " + path);
  Result<TorchSnapshot> snapshot = ReadSnapshot(source, path);
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

int ReplaySnapshot(const RecordedArguments& arguments, ByteSource& source) {
  const Result<std::vector<DevicePrediction>> devices = Predict(source, arguments.file);
  if (!devices) return PrintError(devices.error());
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) {
      RenderPredictionJson(*devices, out);
    } else {
      RenderPredictionText(*devices, out);
    }
  });
  if (!written) return PrintError(written.error());
  return ExitOf(OutcomeOf(*devices), arguments.file);
}

// The policies that PyTorch may have had; those that place blocks by the segment rules.
Result<std::vector<PolicyKind>> PoliciesFor(const RecordedArguments& arguments) {
  const std::vector<std::string> words =
      arguments.allocators.empty() ? std::vector<std::string>{"defer", "pytorch-v1", "pytorch"}
                                   : arguments.allocators;
  std::vector<PolicyKind> kinds;
  for (const std::string& word : words) {
    const auto policy = std::ranges::find(Policies(), word, &PolicyInfo::name);
    if (policy == Policies().end() || policy->offline) {
      return Error{.message = "replay: --against-recorded is for policies, not '" + word + "'",
                   .hint = "give --allocator defer,pytorch, or leave it away"};
    }
    kinds.push_back(policy->kind);
  }
  return kinds;
}

int ReplayCaptures(const RecordedArguments& arguments, std::unique_ptr<ByteSource> source) {
  const Result<std::vector<PolicyKind>> kinds = PoliciesFor(arguments);
  if (!kinds) return PrintError(kinds.error());
  const Result<Trace> trace = ReadInput(std::move(source), arguments.file);
  if (!trace) return PrintError(trace.error());
  if (const Result<void> holds = HoldsMemory(*trace, arguments.file); !holds) {
    return PrintError(holds.error());
  }
  const Facts facts = FindFacts(*trace, {.scope = FactScope::kReplay});
  std::vector<PolicyPlacements> placements;
  for (const PolicyReplay& replay : ReplayTrace(
           facts, *kinds, {.config = {}, .missed = false, .bound = false, .continued = true})) {
    placements.push_back({replay.policy, CompareWithRecorded(facts, replay)});
  }
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) {
      RenderPlacementsJson(placements, out);
    } else {
      RenderPlacementsText(placements, *trace, StyleFor(arguments.output), out);
    }
  });
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

// A snapshot as PyTorch writes it: a pickle.
constexpr std::string_view kPickle = "\x80";

}  // namespace

int ReplayAgainstRecorded(const RecordedArguments& arguments) {
  const auto failed = [&](Error error) {
    error.file = arguments.file;
    return PrintError(error);
  };
  Result<std::unique_ptr<ByteSource>> source = OpenFile(arguments.file);
  if (!source) return failed(source.error());
  const Result<std::string> first = Peek(*source, kPickle.size());
  if (!first) return failed(first.error());
  if (*first != kPickle) return ReplayCaptures(arguments, std::move(*source));
  const bool pytorch = std::ranges::all_of(
      arguments.allocators, [](const std::string& word) { return word == "pytorch"; });
  if (!pytorch) {
    return PrintError(
        Error{.message = "replay: of a snapshot --against-recorded is for PyTorch's allocator",
              .hint = "leave --allocator away"});
  }
  return ReplaySnapshot(arguments, **source);
}

}  // namespace graphkit
