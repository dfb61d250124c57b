#include "tools/graphkit/commands/replay_what_if.h"

#include <memory>
#include <utility>

#include "libgraphkit/alloc/recorded/what_if.h"
#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/formats.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/render/replay/what_if.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {
namespace {

Result<TorchSnapshot> ReadHistory(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  if (!source) return source.error();
  const Result<std::string> head = Peek(*source, kHeadBytes);
  if (!head) return head.error();
  if (!IsTorchSnapshot(*head)) {
    return Error{.message = "no memory snapshot of PyTorch, which --what-if is for",
                 .hint = "torch.cuda.memory._dump_snapshot writes one"};
  }
  const Result<std::string> bytes = ReadAll(**source);
  if (!bytes) return bytes.error();
  return ParseTorchSnapshot(*bytes);
}

Result<std::vector<WhatIf>> Run(const WhatIfArguments& arguments) {
  const Progress progress("replaying " + arguments.file);
  const Result<TorchSnapshot> snapshot = ReadHistory(arguments.file);
  if (!snapshot) return snapshot.error();
  std::vector<WhatIf> devices;
  for (size_t device = 0; device < snapshot->devices.size(); ++device) {
    if (snapshot->devices[device].count == 0) continue;
    Result<WhatIf> found = ReplayWhatIf(*snapshot, device, arguments.settings, arguments.capacity);
    if (!found) return found.error();
    devices.push_back(std::move(*found));
  }
  if (!devices.empty()) return devices;
  return Error{.message = "nothing to replay: it has no history of events",
               .hint = "record one with torch.cuda.memory._record_memory_history()",
               .kind = Error::Kind::kIncomplete};
}

}  // namespace

int ReplayWhatIfs(const WhatIfArguments& arguments) {
  Result<std::vector<WhatIf>> devices = Run(arguments);
  if (!devices) {
    if (devices.error().file.empty()) devices.error().file = arguments.file;
    return PrintError(devices.error());
  }
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) return RenderWhatIfJson(*devices, out);
    RenderWhatIfText(*devices, StyleFor(arguments.output), out);
  });
  return written ? kExitOk : PrintError(written.error());
}

}  // namespace graphkit
