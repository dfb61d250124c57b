// Where the bytes of files go to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

// A file that appears under its name once it is whole, or stdout; either compressed with zstd.
class ByteSink {
 public:
  virtual ~ByteSink() = default;  // without Finish(): nothing is left of a file

  virtual Result<void> Write(std::string_view bytes) = 0;
  virtual Result<void> Finish() = 0;
};

// "-" is stdout. A path that ends in ".zst" is compressed. A file keeps its mode, a link leads
// where it did; pipes and devices are written to directly.
Result<std::unique_ptr<ByteSink>> CreateFile(const std::string& path);

// For a signal handler that ends the process: nothing is left of files that aren't whole.
void RemoveUnfinishedFiles();

}  // namespace graphkit
