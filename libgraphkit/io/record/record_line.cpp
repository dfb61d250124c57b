#include "libgraphkit/io/record/record_line.h"

#include <algorithm>
#include <array>

#include "libgraphkit/printable.h"

namespace graphkit {

void RecordLine::Grow(size_t more) {
  size_t capacity = std::max<size_t>({size_ + more, capacity_ * 2, 1024});
  auto larger = std::make_unique<char[]>(capacity);
  if (size_ != 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
}

// Two digits at a time, from the last: std::to_chars takes twice the instructions, and most of a
// node's record is numbers.
void RecordLine::ManyDigits(uint64_t value) {
  static constexpr auto kPairs = [] {
    std::array<char, 200> pairs{};
    for (size_t i = 0; i < pairs.size(); ++i)
      pairs[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
    return pairs;
  }();
  static constexpr auto kPowers = [] {
    std::array<uint64_t, 20> powers{1};
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
    return powers;
  }();
  const auto less = static_cast<size_t>(std::bit_width(value) * 1233 >> 12);  // bits · log10(2)
  size_ += less + (value >= kPowers[less] ? 1 : 0);
  char* at = buffer_.get() + size_;
  for (; value >= 100; value /= 100) std::memcpy(at -= 2, &kPairs[value % 100 * 2], 2);
  if (value >= 10) {
    std::memcpy(at - 2, &kPairs[value * 2], 2);
  } else {
    at[-1] = static_cast<char>('0' + value);
  }
}

// Runs of bytes that stand for themselves are taken over as they are.
void RecordLine::Quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  Put("\"");
  size_t taken = 0, at = 0;
  auto replace = [&](std::string_view with) {
    Put(text.substr(taken, at - taken));
    Put(with);
    taken = ++at;
  };
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20) {
      const char escaped[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      replace({escaped, 6});
    } else if (c == '"' || c == '\\') {
      const char escaped[] = {'\\', text[at]};
      replace({escaped, 2});
    } else if (const size_t length = c < 0x80 ? 1 : Utf8Length(text.substr(at)); length != 0) {
      at += length;
    } else {
      replace("\xef\xbf\xbd");  // U+FFFD
    }
  }
  Put(text.substr(taken));
  Put("\"");
}

}  // namespace graphkit
