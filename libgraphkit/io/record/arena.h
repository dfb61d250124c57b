// Memory for the many small values of one chunk of a file: given out in order, taken back at once.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace graphkit {

class Arena {
 public:
  // A value that lives until Reset().
  template <typename T>
  T* New() {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return new (Allocate(sizeof(T), alignof(T))) T();
    } else {
      owned_.push_back(std::make_shared<T>());
      return static_cast<T*>(owned_.back().get());
    }
  }

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    auto* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  template <typename T>
  std::span<const T> Copy(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.empty()) return {};
    auto* copy = static_cast<T*>(Allocate(values.size() * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(copy), values.data(), values.size() * sizeof(T));
    return {copy, values.size()};
  }

  // Takes everything back; the memory is kept for the next values.
  void Reset() {
    current_ = 0;
    used_ = 0;
    owned_.clear();
  }

 private:
  static constexpr size_t kBlockSize = 64 * 1024;
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  void* Allocate(size_t size, size_t alignment) {
    const size_t place = (used_ + alignment - 1) & ~(alignment - 1);
    if (current_ == blocks_.size() || place + size > blocks_[current_].size) {
      return AllocateElsewhere(size);
    }
    used_ = place + size;
    return blocks_[current_].bytes.get() + place;
  }

  void* AllocateElsewhere(size_t size) {
    if (current_ < blocks_.size()) ++current_;  // no room in this one
    while (current_ < blocks_.size() && size > blocks_[current_].size) ++current_;
    if (current_ == blocks_.size()) {
      const size_t block = size > kBlockSize ? size : kBlockSize;
      blocks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[block]), block});
    }
    used_ = size;
    return blocks_[current_].bytes.get();
  }

  std::vector<Block> blocks_;
  std::vector<std::shared_ptr<void>> owned_;  // what has a destructor; rare
  size_t current_ = 0;
  size_t used_ = 0;
};

}  // namespace graphkit
