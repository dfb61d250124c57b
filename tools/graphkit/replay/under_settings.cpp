#include <string>

#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "tools/graphkit/replay/forms.h"
#include "tools/graphkit/replay/render_prediction.h"
#include "tools/graphkit/replay/snapshot_history.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

int ReplayUnderSettings(const ReplayArguments& arguments) {
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
      arguments.view(), [&](std::ostream& out) { RenderWhatIfJson(*devices, out); },
      [&](const TextOut& out) { RenderWhatIfText(*devices, out); });
  return written ? kExitOk : PrintError(written.error());
}

}  // namespace graphkit
