// Reads the keys of one record into its struct. Files have the keys in the order of its fields, so
// one walk over these takes in all of them; other orders take more walks, and a key
// that no field wants is passed over.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "libgraphkit/io/record/value_reader.h"

namespace graphkit {

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
