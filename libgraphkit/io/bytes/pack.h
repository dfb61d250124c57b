// Values as bytes and back, for the processes of one job of the same program: never a file.
//
// A struct is packed by its fields, which a structured binding names all: one that is forgotten
// doesn't compile.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

class Packer {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  std::string bytes;

 private:
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void Put(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Put(const std::string& text) {
    Put(uint64_t{text.size()});
    bytes += text;
  }
  template <typename Tag>
  void Put(Id<Tag> id) {
    Put(id.value);
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(uint64_t{values.size()});
    for (const T& value : values) Put(value);
  }
  template <typename T, size_t kSize>
  void Put(const std::array<T, kSize>& values) {
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  template <typename T>
  requires std::is_aggregate_v<T>
  void Put(const T& value) { Fields(*this, value); }
};

// What doesn't fit the bytes leaves `ok` false, and values that are empty.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool ok = true;
  bool done() const { return ok && left_.empty(); }

 private:
  std::string_view Take(size_t size) {
    if (size > left_.size()) ok = false;
    const std::string_view taken = ok ? left_.substr(0, size) : std::string_view();
    left_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void Get(T& value) {
    const std::string_view taken = Take(sizeof value);
    if (ok) std::memcpy(&value, taken.data(), sizeof value);
  }
  uint64_t GetSize() {
    uint64_t size = 0;
    Get(size);
    if (size > left_.size()) ok = false;  // each element has at least a byte
    return ok ? size : 0;
  }
  void Get(std::string& text) { text = Take(GetSize()); }
  template <typename Tag>
  void Get(Id<Tag>& id) {
    Get(id.value);
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    values.resize(GetSize());
    for (T& value : values) Get(value);
  }
  template <typename T, size_t kSize>
  void Get(std::array<T, kSize>& values) {
    for (T& value : values) Get(value);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool is = false;
    Get(is);
    value.reset();
    if (is) Get(value.emplace());
  }
  template <typename T>
  requires std::is_aggregate_v<T>
  void Get(T& value) { Fields(*this, value); }

  std::string_view left_;
};

}  // namespace graphkit
