// JSON values → C++ values: one overload of ReadValue a type. Each returns nullptr, or what the
// value should have been ("a number").
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/arena.h"
#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

using JsonValue = simdjson::ondemand::value;
using Expected = const char*;

template <typename T>
requires std::unsigned_integral<T> Expected ReadValue(JsonValue value, T& out, Arena&) {
  uint64_t number = 0;
  if (value.get_uint64().get(number)) return "a whole number, not negative";
  if (number > std::numeric_limits<T>::max()) return "a smaller number";
  out = static_cast<T>(number);
  return nullptr;
}

template <typename T>
requires std::signed_integral<T> Expected ReadValue(JsonValue value, T& out, Arena&) {
  int64_t number = 0;
  if (value.get_int64().get(number)) return "a whole number";
  if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::min()) {
    return "a smaller number";
  }
  out = static_cast<T>(number);
  return nullptr;
}

inline Expected ReadValue(JsonValue value, bool& out, Arena&) {
  return value.get_bool().get(out) ? "true or false" : nullptr;
}

template <typename Tag>
Expected ReadValue(JsonValue value, Id<Tag>& out, Arena&) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) || number >= Id<Tag>::kNone) return "an id";
  out = Id<Tag>(static_cast<uint32_t>(number));
  return nullptr;
}

inline Expected ReadValue(JsonValue value, std::string_view& out, Arena& arena) {
  std::string_view text;
  if (value.get_string().get(text)) return "a string";
  out = arena.Copy(text);
  return nullptr;
}

inline Expected ReadValue(JsonValue value, EdgeType& out, Arena&) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) || number > 1) return "0 (default) or 1 (programmatic)";
  out = static_cast<EdgeType>(number);
  return nullptr;
}

// "a, b or c".
inline std::string OneOf(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

template <typename Enum>
requires requires { Names<Enum>::value; }
Expected ReadValue(JsonValue value, Enum& out, Arena&) {
  simdjson::ondemand::raw_json_string text;
  if (value.get_raw_json_string().get(text)) return "a string";
  const auto& names = Names<Enum>::value;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!text.unsafe_is_equal(names[i])) continue;
    out = static_cast<Enum>(i);
    return nullptr;
  }
  if constexpr (std::same_as<Enum, NodeKind>) {
    if (text.unsafe_is_equal("unknown")) {
      out = NodeKind::kUnknown;
      return nullptr;
    }
  }
  static const std::string words = OneOf(names);
  return words.c_str();
}

// "0x…", up to 16 digits.
inline Expected ReadHex(JsonValue value, uint64_t& out) {
  constexpr const char* kWanted = "a string like \"0x7f0000\"";
  simdjson::ondemand::raw_json_string text;
  if (value.get_raw_json_string().get(text)) return kWanted;
  const char* c = text.raw();
  if (c[0] != '0' || c[1] != 'x') return kWanted;
  c += 2;
  uint64_t number = 0;
  int digits = 0;
  for (; *c != '"'; ++c, ++digits) {
    const auto byte = static_cast<unsigned char>(*c);
    const unsigned decimal = byte - unsigned{'0'};
    const unsigned letter = (byte | 0x20u) - unsigned{'a'};
    if (decimal > 9 && letter > 5) return kWanted;
    number = number << 4 | (decimal <= 9 ? decimal : letter + 10);
  }
  if (digits == 0 || digits > 16) return kWanted;
  out = number;
  return nullptr;
}

// The entries of an array of fixed length, one after the other.
class TupleReader {
 public:
  TupleReader(JsonValue value, Arena& arena) : arena_(arena) {
    good_ = !value.get_array().get(array_) && !array_.begin().get(next_);
    good_ = good_ && !array_.end().get(end_);
  }

  template <typename T>
  TupleReader& operator>>(T& out) {
    JsonValue value;
    good_ = good_ && next_ != end_ && !(*next_).get(value) && !ReadValue(value, out, arena_);
    if (good_) ++next_;
    return *this;
  }

  bool Done() { return good_ && next_ == end_; }

 private:
  Arena& arena_;
  simdjson::ondemand::array array_;
  simdjson::ondemand::array_iterator next_;
  simdjson::ondemand::array_iterator end_;
  bool good_ = false;
};

inline Expected ReadValue(JsonValue value, std::array<uint32_t, 3>& out, Arena& arena) {
  return (TupleReader(value, arena) >> out[0] >> out[1] >> out[2]).Done() ? nullptr
                                                                          : "three numbers";
}

inline Expected ReadValue(JsonValue value, KernelParam& out, Arena& arena) {
  return (TupleReader(value, arena) >> out.offset >> out.size).Done() ? nullptr : "[offset,size]";
}

inline Expected ReadValue(JsonValue value, FrameRecord& out, Arena& arena) {
  return (TupleReader(value, arena) >> out.function >> out.file >> out.line).Done()
             ? nullptr
             : "[function,file,line]";
}

inline Expected ReadValue(JsonValue value, FrontierEntry& out, Arena& arena) {
  return (TupleReader(value, arena) >> out.node >> out.from_port >> out.edge_type).Done()
             ? nullptr
             : "[node,from_port,edge_type]";
}

inline Expected ReadValue(JsonValue value, Access& out, Arena& arena) {
  int64_t length = 0;
  const bool good =
      (TupleReader(value, arena) >> out.block >> out.mode >> out.offset >> length).Done();
  if (!good || length < -1) return "[block,mode,offset,length]";
  out.length = length < 0 ? kLengthUnknown : static_cast<Bytes>(length);
  return nullptr;
}

template <typename T>
Expected ReadValue(JsonValue value, std::span<const T>& out, Arena& arena) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array)) return "a list";
  thread_local std::vector<T> entries;
  entries.clear();
  for (auto result : array) {
    JsonValue element;
    if (result.get(element)) return "a list";
    if (Expected wrong = ReadValue(element, entries.emplace_back(), arena)) return wrong;
  }
  out = arena.Copy(entries);
  return nullptr;
}

}  // namespace graphkit
