// Where the bytes of a file go: a file that appears under its name once it is whole, or stdout;
// either compressed with zstd.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

class ByteSink {
 public:
  virtual ~ByteSink() = default;  // without Finish(): nothing is left of a file

  virtual Result<void> Write(std::string_view bytes) = 0;
  virtual Result<void> Finish() = 0;
};

// "-" is stdout. A path that ends in ".zst" is compressed.
Result<std::unique_ptr<ByteSink>> CreateFile(const std::string& path);

}  // namespace graphkit
