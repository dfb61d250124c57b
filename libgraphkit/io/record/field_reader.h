// JSON values → C++ values: one overload of ReadValue a type. Each returns nullptr, or what the
// value should have been ("a number"). Texts are taken where they stand, so the text that is read
// must live as long as what is made of it.
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/io/record/json_cursor.h"
#include "libgraphkit/io/record/record.h"

namespace graphkit {

using Expected = const char*;

template <std::unsigned_integral T>
Expected ReadValue(JsonCursor& in, T& out, LooseValues&) {
  uint64_t number = 0;
  if (!in.TakeNumber(number)) return "a whole number, not negative";
  if (number > std::numeric_limits<T>::max()) return "a smaller number";
  out = static_cast<T>(number);
  return nullptr;
}

template <std::signed_integral T>
Expected ReadValue(JsonCursor& in, T& out, LooseValues&) {
  int64_t number = 0;
  if (!in.TakeNumber(number)) return "a whole number";
  if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::min()) {
    return "a smaller number";
  }
  out = static_cast<T>(number);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, TwoWords& out, LooseValues& to) {
  uint64_t number = 0;
  if (Expected wrong = ReadValue(in, number, to)) return wrong;
  out = number;
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, bool& out, LooseValues&) {
  out = in.TakeWord("true");
  return out || in.TakeWord("false") ? nullptr : "true or false";
}

template <typename Tag>
Expected ReadValue(JsonCursor& in, Id<Tag>& out, LooseValues&) {
  uint64_t number = 0;
  if (!in.TakeNumber(number) || number >= Id<Tag>::kNone) return "an id";
  out = Id<Tag>(static_cast<uint32_t>(number));
  return nullptr;
}

inline Expected ReadText(JsonCursor& in, std::string_view& out, Arena& arena) {
  JsonText text;
  if (!in.TakeText(text)) return "a string";
  out = text.raw;
  if (!text.has_escapes) return nullptr;
  std::string unescaped;
  if (!AppendUnescaped(text.raw, unescaped)) return "a string with JSON's escapes";
  out = arena.Copy(unescaped);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, StringId& out, LooseValues& to) {
  std::string_view text;
  if (Expected wrong = ReadText(in, text, to.arena)) return wrong;
  out = to.Add(text);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, std::string& out, LooseValues& to) {
  std::string_view text;
  if (Expected wrong = ReadText(in, text, to.arena)) return wrong;
  out = text;
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, EdgeType& out, LooseValues&) {
  uint64_t number = 0;
  if (!in.TakeNumber(number) || number > 1) return "0 (default) or 1 (programmatic)";
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

// Takes one of the words of Words::value: gives its index to `take`.
template <typename Words>
Expected ReadWord(JsonCursor& in, auto take) {
  JsonText text;
  if (!in.TakeText(text)) return "a string";
  for (size_t i = 0; i < Words::value.size(); ++i) {
    if (text.raw == Words::value[i]) return take(i), nullptr;
  }
  if constexpr (std::same_as<Words, Names<NodeKind>>) {
    if (text.raw == "unknown") return take(static_cast<size_t>(NodeKind::kUnknown)), nullptr;
  }
  static const std::string words = OneOf(Words::value);
  return words.c_str();
}

template <typename Enum>
requires requires { Names<Enum>::value; }
Expected ReadValue(JsonCursor& in, Enum& out, LooseValues&) {
  return ReadWord<Names<Enum>>(in, [&](size_t i) { out = static_cast<Enum>(i); });
}

template <typename Words>
Expected ReadValue(JsonCursor& in, AsWord<Words> out, LooseValues&) {
  return ReadWord<Words>(in, [&](size_t i) { out.value = Words::kKinds[i]; });
}

// "0x…", up to 16 digits.
template <typename T>
Expected ReadValue(JsonCursor& in, Hex<T> out, LooseValues&) {
  constexpr const char* kWanted = "a string like \"0x7f0000\"";
  JsonText text;
  if (!in.TakeText(text) || !text.raw.starts_with("0x")) return kWanted;
  const char *begin = text.raw.data() + 2, *end = begin + text.raw.size() - 2;
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number, 16);
  if (stop != end || error != std::errc() || end - begin > 16) return kWanted;
  out.value = static_cast<T>(number);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, Later out, LooseValues& to) {
  return ReadValue(in, out.value, to);
}

inline Expected ReadValue(JsonCursor& in, Length out, LooseValues&) {
  int64_t length = 0;
  if (!in.TakeNumber(length) || length < -1) return "a length";
  out.bytes = length < 0 ? kLengthUnknown : static_cast<Bytes>(length);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, Half out, LooseValues& to) {
  uint32_t half = 0;
  if (Expected wrong = ReadValue(in, half, to)) return wrong;
  out.number |= uint64_t{half} << out.shift;
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, RowParts out, LooseValues& to) {
  for (uint32_t* part : {&out.rows.width, &out.rows.pitch, &out.rows.height, &out.rows.layer}) {
    if (part != &out.rows.width && !in.Take(',')) return "four numbers";
    if (Expected wrong = ReadValue(in, *part, to)) return wrong;
  }
  return nullptr;
}

// Reads an array that holds exactly these values.
template <typename... Ts>
bool ReadTuple(JsonCursor& in, LooseValues& to, Ts&&... outs) {
  if (!in.Take('[')) return false;
  bool first = true;
  const auto read = [&](auto&& out) {
    if (!first && !in.Take(',')) return std::same_as<decltype(out), RowParts&>;
    first = false;
    return ReadValue(in, out, to) == nullptr;
  };
  return (read(outs) && ...) && in.Take(']');
}

inline Expected ReadValue(JsonCursor& in, Extents out, LooseValues& to) {
  auto& [x, y, z] = out.value;
  return ReadTuple(in, to, x, y, z) ? nullptr : "three numbers";
}

template <HasParts T>
Expected ReadValue(JsonCursor& in, T& out, LooseValues& to) {
  const bool read = Parts(out, [&](auto&&... parts) { return ReadTuple(in, to, parts...); });
  return read ? nullptr : PartsOf(out);
}

// Appends the entries of an array to `out`.
template <typename T>
Expected ReadList(JsonCursor& in, std::vector<T>& out, LooseValues& to) {
  if (!in.Take('[')) return "a list";
  if (in.Take(']')) return nullptr;
  do {
    if (Expected wrong = ReadValue(in, out.emplace_back(), to)) return wrong;
  } while (in.Take(','));
  return in.Take(']') ? nullptr : "a list";
}

template <typename Column>
Expected ReadValue(JsonCursor& in, Listed<Column> out, LooseValues& to) {
  auto& entries = to.Entries(out.column);
  const size_t first = entries.size();
  if (Expected wrong = ReadList(in, entries, to)) return wrong;
  out.value = {static_cast<uint32_t>(first), static_cast<uint32_t>(entries.size() - first)};
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, std::vector<std::string>& out, LooseValues& to) {
  out.clear();
  return ReadList(in, out, to);
}

template <typename T>
Expected ReadValue(JsonCursor& in, std::span<const T>& out, LooseValues& to) {
  thread_local std::vector<T> entries;
  entries.clear();
  if (Expected wrong = ReadList(in, entries, to)) return wrong;
  out = to.arena.Copy(entries);
  return nullptr;
}

// Reads the keys of one record into its struct. Files have the keys in the order of its fields, so
// one walk over these takes in all of them; other orders take more walks, and a key
// that no field wants is passed over.

class FieldReader {
 public:
  // `line` stands at the record's opening brace.
  FieldReader(JsonCursor line, LooseValues& values)
      : begin_(line.position()), in_(line), values_(values) {
    if (in_.Take('{')) {
      pending_ = !in_.Take('}');
    } else {
      FailHere();
    }
  }

  bool failed() const { return !problem_.empty(); }
  const std::string& problem() const { return problem_; }

  const JsonCursor& position() const { return in_; }

  // Takes the value of the next key when it is this one.
  bool TakeNext(std::string_view key, std::string_view& out) {
    if (!pending_ || !in_.TakeKey(key)) return false;
    TakeValue(key, [&] { return ReadText(in_, out, values_.arena); });
    return !failed();
  }

  // Passes over the next key and its value; false: there is none, or it isn't valid JSON.
  bool PassOver() {
    if (!pending_) return false;
    JsonText key;
    if (!in_.TakeText(key) || !in_.Take(':') || !in_.Skip()) {
      FailHere();
    } else {
      NextKey();
    }
    return !failed();
  }

  template <typename Record>
  void Read(Record& record) {
    while (pending_) {
      const uint32_t before = taken_;
      Walk(record);
      if (taken_ == before) PassOver();
    }
    if (failed() || (walked_ && (required_ & ~seen_) == 0)) return;
    missing_ = {};
    Walk(record);
    if (!missing_.empty()) problem_ = "has no \"" + std::string(missing_) + "\"";
  }

  [[gnu::always_inline]] void Required(std::string_view key, auto&& value) {
    const uint32_t bit = Field(key, value);
    required_ |= bit;
    if (!(seen_ & bit) && missing_.empty()) missing_ = key;
  }
  [[gnu::always_inline]] void Always(std::string_view key, auto&& value) { Field(key, value); }
  [[gnu::always_inline]] void Optional(std::string_view key, auto&& value) { Field(key, value); }
  [[gnu::always_inline]] void Optional(std::string_view key, auto& value, const auto&) {
    Field(key, value);
  }
  [[gnu::always_inline]] void Present(std::string_view key, bool& present, auto&& value) {
    const uint32_t bit = Field(key, value);
    present = (seen_ & bit) != 0;
  }

 private:
  template <typename Record>
  void Walk(Record& record) {
    index_ = 0;
    walked_ = true;
    record.Fields(*this);
    Optional("t", record.time);
    Optional("src", record.source);
  }

  // Takes the pending value if it is this field's; returns the field's bit in `seen_`.
  [[gnu::always_inline]] uint32_t Field(std::string_view key, auto&& value) {
    const uint32_t bit = 1u << index_++;
    if (!pending_ || !in_.TakeKey(key)) return bit;
    seen_ |= bit;
    TakeValue(key, [&] { return ReadValue(in_, value, values_); });
    return bit;
  }

  template <typename Read>
  [[gnu::always_inline]] void TakeValue(std::string_view key, Read read) {
    if (Expected wanted = read()) {
      Fail("has a bad \"" + std::string(key) + "\": it should be " + wanted);
    } else {
      ++taken_;
      NextKey();
    }
  }

  // Behind a value: moves on to the next key, or behind the record.
  [[gnu::always_inline]] void NextKey() {
    pending_ = in_.Take(',');
    if (!pending_ && !in_.Take('}')) FailHere();
  }

  void FailHere() {
    Fail("isn't valid JSON at column " + std::to_string(in_.position() - begin_ + 1));
  }

  void Fail(std::string problem) {
    problem_ = std::move(problem);
    pending_ = false;
  }

  const char* begin_;
  JsonCursor in_;
  LooseValues& values_;
  std::string problem_;
  std::string_view missing_;
  bool pending_ = false;  // a key follows
  bool walked_ = false;
  uint32_t required_ = 0;
  uint32_t index_ = 0;
  uint32_t seen_ = 0;
  uint32_t taken_ = 0;
};

}  // namespace graphkit
