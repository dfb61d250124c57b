#include "libgraphkit/render/export/protobuf_writer.h"

namespace graphkit {

namespace {

// Wire types.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kFixed64 = 1;
constexpr uint64_t kLength = 2;

}  // namespace

void ProtobufWriter::Raw(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ProtobufWriter::Varint(uint32_t field, uint64_t value) {
  Raw(uint64_t{field} << 3 | kVarint);
  Raw(value);
}

void ProtobufWriter::Fixed64(uint32_t field, uint64_t value) {
  Raw(uint64_t{field} << 3 | kFixed64);
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
}

void ProtobufWriter::String(uint32_t field, std::string_view text) {
  Raw(uint64_t{field} << 3 | kLength);
  Raw(text.size());
  bytes_ += text;
}

}  // namespace graphkit
