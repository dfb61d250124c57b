// The history of a memory snapshot, replayed device by device.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "tools/graphkit/terminal/progress.h"

namespace graphkit {

inline bool IsSnapshot(const OpenedFile& file) {
  return file.format && file.format->name == std::string_view("torch-snapshot");
}

// Calls `replay` with the snapshot and each device that has events. Errors name the file.
template <typename T, typename Replay>
Result<std::vector<T>> ReplayHistory(const OpenedFile& file, Replay replay) {
  const Progress progress("replaying " + file.path);
  const auto failed = [&](Error error) {
    if (error.file.empty()) error.file = file.path == "-" ? "stdin" : file.path;
    return error;
  };
  const Result<FileBytes> bytes = ReadBytes(*file.source);
  if (!bytes) return failed(bytes.error());
  const Result<TorchSnapshot> snapshot = ParseTorchSnapshot(bytes->text);
  if (!snapshot) return failed(snapshot.error());
  std::vector<T> devices;
  for (size_t device = 0; device < snapshot->devices.size(); ++device) {
    if (snapshot->devices[device].count == 0) continue;
    Result<T> replayed = replay(*snapshot, device);
    if (!replayed) return failed(replayed.error());
    devices.push_back(*std::move(replayed));
  }
  if (!devices.empty()) return devices;
  return failed({.message = "nothing to judge: it has no history of events",
                 .hint = "record one with torch.cuda.memory._record_memory_history()",
                 .kind = Error::Kind::kIncomplete});
}

}  // namespace graphkit
