// The two compressions that nvcc uses inside fat binaries.
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {
namespace {

// Reads the bytes that extend a length of 15 in an LZ4 token.
size_t Extended(size_t length, std::string_view data, size_t& at) {
  if (length != 15) return length;
  while (at < data.size()) {
    const auto more = static_cast<uint8_t>(data[at++]);
    length += more;
    if (more != 255) break;
  }
  return length;
}

}  // namespace

std::optional<std::string> DecompressLz4(std::string_view data, size_t size) {
  std::string out;
  out.reserve(size);
  for (size_t at = 0; at < data.size() && out.size() < size;) {
    const auto token = static_cast<uint8_t>(data[at++]);
    const size_t literals = Extended(token >> 4, data, at);
    if (literals > data.size() - at) return std::nullopt;
    out.append(data.substr(at, literals));
    at += literals;
    if (at + 2 > data.size()) break;  // the last sequence has no match
    const size_t distance = static_cast<uint8_t>(data[at]) |
                            static_cast<size_t>(static_cast<uint8_t>(data[at + 1])) << 8;
    at += 2;
    if (distance == 0 || distance > out.size()) return std::nullopt;
    const size_t match = Extended(token & 15, data, at) + 4;
    for (size_t i = 0; i < match && out.size() < size; ++i)
      out.push_back(out[out.size() - distance]);
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

std::optional<std::string> DecompressZstd(std::string_view data, size_t size) {
  std::string out(size, '\0');
  const size_t got = ZSTD_decompress(out.data(), out.size(), data.data(), data.size());
  if (ZSTD_isError(got) || got != size) return std::nullopt;
  return out;
}

}  // namespace graphkit::soft
