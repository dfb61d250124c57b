#include "libgraphkit/render/report/packed_columns.h"

#include <zlib.h>

#include <limits>
#include <vector>

namespace graphkit {

void PackedColumns::Begin(std::string name) {
  columns_.push_back({.name = std::move(name)});
  last_ = 0;
}

void PackedColumns::Add(uint64_t value) {
  Column& column = columns_.back();
  ++column.count;
  if (value > std::numeric_limits<uint32_t>::max()) column.wide = true;
  const auto difference = static_cast<int64_t>(value - last_);
  last_ = value;
  uint64_t zigzag =
      (static_cast<uint64_t>(difference) << 1) ^ static_cast<uint64_t>(difference >> 63);
  for (; zigzag >= 0x80; zigzag >>= 7) bytes_ += static_cast<char>(0x80 | (zigzag & 0x7f));
  bytes_ += static_cast<char>(zigzag);
}

// Fails for lack of memory only; then the page says that it can't be read.
std::string Deflate(std::string_view bytes) {
  // Of reports, zlib's default of 6 takes twice as long for 5 % less.
  constexpr int kLevel = 3;
  constexpr size_t kPiece = size_t{1} << 20;
  z_stream stream{};
  if (deflateInit(&stream, kLevel) != Z_OK) return {};
  std::string compressed;
  std::vector<char> piece(kPiece);
  int status = Z_OK;
  while (status == Z_OK) {
    const std::string_view next = bytes.substr(0, kPiece);
    bytes.remove_prefix(next.size());
    // zlib's own type lacks a const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
    stream.avail_in = static_cast<uInt>(next.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      compressed.append(piece.data(), piece.size() - stream.avail_out);
    } while (status == Z_OK && stream.avail_out == 0);
    if (status == Z_BUF_ERROR) status = Z_OK;  // the piece's end filled the output exactly
  }
  deflateEnd(&stream);
  return status == Z_STREAM_END ? compressed : std::string();
}

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= have ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace graphkit
