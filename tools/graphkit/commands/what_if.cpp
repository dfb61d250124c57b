// `graphkit what-if`: the memory that PyTorch's allocator would have reserved under other settings.
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "libgraphkit/render/replay/replay.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/snapshot_history.h"

namespace graphkit {

namespace {

struct WhatIfArguments {
  std::string file;
  std::vector<std::string> settings;
  std::optional<Bytes> capacity;
  View view;
};

int RunWhatIf(const WhatIfArguments& arguments) {
  const Result<OpenedFile> file = OpenInput(arguments.file);
  if (!file) return PrintError(file.error());
  if (!IsSnapshot(*file)) {
    return PrintError(Error{.message = "not a memory snapshot of PyTorch",
                            .hint = "torch.cuda.memory._dump_snapshot writes one",
                            .file = arguments.file});
  }
  const auto devices =
      ReplayHistory<WhatIf>(*file, [&](const TorchSnapshot& snapshot, size_t device) {
        return ReplayWhatIf(snapshot, device, arguments.settings, arguments.capacity);
      });
  if (!devices) return PrintError(devices.error());
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderWhatIfJson(*devices, out); },
      [&](const TextOut& out) { RenderWhatIfText(*devices, out); });
  return written ? kExitOk : PrintError(written.error());
}

}  // namespace

void AddWhatIfCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<WhatIfArguments>(
      app, exit_code, RunWhatIf, "what-if",
      "Predict the reserved memory of a snapshot under other allocator settings",
      {"graphkit what-if snapshot.pickle expandable_segments",
       "graphkit what-if snapshot.pickle max_split_size_mb:128 expandable_segments:True"});
  sub->add_option("snapshot", arguments->file, "Memory snapshot of PyTorch, or - for stdin")
      ->required();
  sub->add_option("setting", arguments->settings,
                  "Settings as in PYTORCH_ALLOC_CONF; one line of the result each")
      ->required();
  AddSize(*sub, "--capacity", arguments->capacity, "Device memory; show where it runs out");
  AddView(*sub, arguments->view);
}

}  // namespace graphkit
