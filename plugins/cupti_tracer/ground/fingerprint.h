// One number for all that a node was made or set with, to know whether it is set to that again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace graphkit {

// Up to 8 bytes as a number. Most are 4, for which no call of memcpy is needed.
inline uint64_t BitsOf(const char* bytes, size_t count) {
  uint64_t bits = 0;
  if (count == sizeof(uint32_t)) {
    std::memcpy(&bits, bytes, sizeof(uint32_t));
  } else {
    std::memcpy(&bits, bytes, count);
  }
  return bits;
}

class Fingerprint {
 public:
  static constexpr uint64_t kUnknown = 0;

  Fingerprint() = default;
  Fingerprint(std::initializer_list<uint64_t> words) {
    for (const uint64_t word : words) Add(word);
  }
  void Add(uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 32;
  }
  void Add(uint32_t low, uint32_t high) { Add(uint64_t{high} << 32 | low); }
  void Add(const char* bytes, size_t count) {
    for (; count >= sizeof(uint64_t); bytes += sizeof(uint64_t), count -= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes, sizeof word);
      Add(word);
    }
    if (count != 0) Add(BitsOf(bytes, count));
  }
  uint64_t value() const { return value_ != kUnknown ? value_ : 1; }

 private:
  uint64_t value_ = 0x2545f4914f6cdd1du;
};

// Of many bytes: four words at a time, as each word of one fingerprint waits for the one before.
inline uint64_t FingerprintOf(const char* bytes, size_t count) {
  Fingerprint lanes[4];
  for (; count >= sizeof(uint64_t[4]); bytes += sizeof(uint64_t[4]), count -= sizeof(uint64_t[4])) {
    uint64_t words[4];
    std::memcpy(words, bytes, sizeof words);
    for (size_t i = 0; i < 4; ++i) lanes[i].Add(words[i]);
  }
  Fingerprint all{lanes[0].value(), lanes[1].value(), lanes[2].value(), lanes[3].value()};
  all.Add(bytes, count);
  return all.value();
}

}  // namespace graphkit
