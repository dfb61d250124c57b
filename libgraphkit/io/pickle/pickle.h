// Reads Python pickles (protocols 2 to 5) that hold plain data: None, booleans, numbers, strings,
// bytes, lists, tuples, dicts and sets. It never imports a name and never calls anything: an opcode
// that would is an error. Format: the pickletools module of CPython describes every opcode.
//
//   "\x80\x04]\x94(K\x01K\x02e."   protocol 4, [1, 2]:
//     EMPTY_LIST MEMOIZE MARK BININT1 1 BININT1 2 APPENDS STOP
//
// Values are 16 bytes, strings stay in the input, containers lie in one arena: memory is bounded by
// a constant times the input's size, whatever the input says.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

enum class PickleType : uint8_t {
  kNone,
  kBool,
  kInt,     // fits int64
  kUint,    // 2^63 to 2^64 - 1
  kBigInt,  // any other integer: text() is its little-endian two's complement
  kFloat,
  kString,  // UTF-8, as in the file
  kBytes,
  kList,
  kTuple,
  kDict,  // items() alternate key, value, in file order; of equal keys the last one counts
  kSet,
  kTaken,  // in a list: length dicts that a PickleTaker took, from the natural-th on
};

struct PickleValue;

// The items of a list, tuple, dict or set. Shared: two values may refer to the same container.
struct PickleContainer {
  PickleValue* data = nullptr;
  uint32_t size = 0;  // for a dict: keys and values
  uint32_t capacity = 0;

  // A dict that a PickleTaker took is empty, and knows how many were taken before it.
  bool taken() const { return !data && capacity > 0; }
};

struct PickleValue {
  PickleType type = PickleType::kNone;
  uint32_t length = 0;  // of text()
  union {
    int64_t integer = 0;
    uint64_t natural;
    double real;
    const char* chars;
    PickleContainer* container;
  };

  bool is(PickleType t) const { return type == t; }
  bool is_sequence() const { return type == PickleType::kList || type == PickleType::kTuple; }
  std::string_view text() const { return {chars, length}; }
  std::span<const PickleValue> items() const { return {container->data, container->size}; }
  // The value of a string key of a dict; null when there is none or this isn't a dict.
  const PickleValue* find(std::string_view key) const;
};

// The text of a string; empty for anything else, and for null.
inline std::string_view TextOf(const PickleValue* value) {
  return value && value->is(PickleType::kString) ? value->text() : std::string_view();
}

// A whole number that isn't negative; false: it isn't one.
inline bool Natural(const PickleValue& value, uint64_t* out) {
  if (value.is(PickleType::kUint)) {
    *out = value.natural;
    return true;
  }
  if (!value.is(PickleType::kInt) || value.integer < 0) return false;
  *out = static_cast<uint64_t>(value.integer);
  return true;
}

// Takes dicts while the pickle is read, so that they need no memory. The entries alternate key and
// value; the values are whole, and stay as long as the document.
class PickleTaker {
 public:
  virtual ~PickleTaker() = default;
  // True when it took this dict: as the first, the second, …
  virtual bool Take(std::span<const PickleValue> entries) = 0;
};

// A pickle that was read. Refers to the bytes it was read from.
struct PickleDocument {
  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena;
  PickleValue root;
};

// True when bytes begin like a pickle of protocol 2 to 5.
inline bool IsPickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

// Bytes after the STOP opcode are ignored, as Python does. A pickle that ends early is
// Error::Kind::kIncomplete.
// Each dict that is filled at once is offered to `taker`; one that was taken is a kTaken where it
// stands in a list.
Result<PickleDocument> ReadPickle(std::string_view bytes, PickleTaker* taker = nullptr);

}  // namespace graphkit
