// Protocol buffers' wire format (protobuf.dev/programming-guides/encoding), as far as messages need
// it that are written once, from the outside in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace graphkit {

class ProtobufWriter {
 public:
  void Varint(uint32_t field, uint64_t value);
  void Fixed64(uint32_t field, uint64_t value);
  void String(uint32_t field, std::string_view text);  // and bytes
  void Message(uint32_t field, const ProtobufWriter& message) { String(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  void Raw(uint64_t value);

  std::string bytes_;
};

}  // namespace graphkit
