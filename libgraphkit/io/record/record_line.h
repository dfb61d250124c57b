// One record as a line of a trace file, as FieldWriter fills it in. Standard library only: this is
// loaded into other people's programs. The format is docs/format.md.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

namespace graphkit {

// Builds one record in a buffer that is reused from record to record.
class RecordLine {
 public:
  // {"type":"<type>"
  [[gnu::always_inline]] void Start(std::string_view type) {
    size_ = 0;
    Put("{\"type\":\"");
    Put(type);
    Put("\"");
  }

  // ,"key": and what may stand behind it.
  [[gnu::always_inline]] void Key(std::string_view key) {
    Reserve(key.size() + 4);
    char* at = buffer_.get() + size_;
    *at++ = ',';
    *at++ = '"';
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    *at++ = '"';
    *at++ = ':';
    size_ += key.size() + 4;
  }
  template <std::integral T>
  [[gnu::always_inline]] void Decimal(T value) {
    if constexpr (std::is_signed_v<T>) {
      if (value < 0) Put("-");
      Digits(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
    } else {
      Digits(value);
    }
  }
  void Hexadecimal(uint64_t value) {
    Put("\"0x");
    Reserve(kMostDigits);
    char* at = buffer_.get() + size_;
    int shift = (static_cast<int>(std::bit_width(value | 1)) - 1) / 4 * 4;
    size_ += static_cast<size_t>(shift / 4 + 1);
    for (; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[value >> shift & 15];
    Put("\"");
  }
  // A word that needs no escaping.
  [[gnu::always_inline]] void Word(std::string_view word) {
    Reserve(word.size() + 2);
    char* at = buffer_.get() + size_;
    *at++ = '"';
    std::memcpy(at, word.data(), word.size());
    at[word.size()] = '"';
    size_ += word.size() + 2;
  }
  // An array: each value is followed by a comma, and the bracket takes the place of the last one.
  [[gnu::always_inline]] void Open() { Put("["); }
  [[gnu::always_inline]] void Comma() { Put(","); }
  [[gnu::always_inline]] void Close() {
    if (buffer_[size_ - 1] == ',') --size_;
    Put("]");
  }
  // Any bytes: escaped, and made valid UTF-8.
  void Quoted(std::string_view text);
  [[gnu::always_inline]] void Put(std::string_view text) {
    Reserve(text.size());
    text.copy(buffer_.get() + size_, text.size());  // memcpy takes no null, as an empty one may be
    size_ += text.size();
  }

  // The whole record; valid until the next Start.
  std::string_view Finish() {
    Put("}");
    return {buffer_.get(), size_};
  }

 private:
  [[gnu::always_inline]] void Digits(uint64_t value) {
    Reserve(kMostDigits);
    if (value < 10) {  // most are
      buffer_[size_++] = static_cast<char>('0' + value);
    } else {
      ManyDigits(value);
    }
  }
  void ManyDigits(uint64_t value);
  [[gnu::always_inline]] void Reserve(size_t more) {
    if (__builtin_expect(size_ + more > capacity_, 0)) Grow(more);
  }
  void Grow(size_t more);

  static constexpr size_t kMostDigits = 24;

  std::unique_ptr<char[]> buffer_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// The counts of the `end` record beside that of the records.
struct RecordCounts {
  uint64_t graphs = 0;
  uint64_t nodes = 0;
  uint64_t edges = 0;
  uint64_t blocks = 0;
  uint64_t launches = 0;
  bool operator==(const RecordCounts&) const = default;

  // Calls visit(its key, a count, that of `other`).
  void VisitWith(const RecordCounts& other, auto visit) {
    visit("graphs", graphs, other.graphs);
    visit("nodes", nodes, other.nodes);
    visit("edges", edges, other.edges);
    visit("blocks", blocks, other.blocks);
    visit("launches", launches, other.launches);
  }
};

}  // namespace graphkit
