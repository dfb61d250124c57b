// The history of a memory snapshot, replayed device by device.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "tools/graphkit/cli/progress.h"

namespace graphkit {

// A plain file is mapped, by its path; stdin and a compressed file are read from `source`.
inline Result<TorchSnapshot> ReadHistory(ByteSource& source, const std::string& path) {
  constexpr int kPickle = 0x80;
  if (path != "-" && std::ifstream(path).peek() == kPickle) return ReadTorchSnapshot(path);
  const Result<std::string> bytes = ReadAll(source);
  if (!bytes) return bytes.error();
  return ParseTorchSnapshot(*bytes);
}

// Calls `replay` with the snapshot and each device that has events. Errors name the file.
template <typename T, typename Replay>
Result<std::vector<T>> ReplayHistory(ByteSource& source, const std::string& path, Replay replay) {
  const Progress progress("replaying " + path);
  const auto failed = [&](Error error) {
    if (error.file.empty()) error.file = path == "-" ? "stdin" : path;
    return error;
  };
  const Result<TorchSnapshot> snapshot = ReadHistory(source, path);
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
