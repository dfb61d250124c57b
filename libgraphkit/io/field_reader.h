// Reads the keys of one record into its struct. Files have the keys in the order of VisitFields, so
// one walk over the struct's fields takes in all of them; other orders take more walks, and a key
// that no field wants is passed over.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "libgraphkit/io/value_reader.h"

namespace graphkit {

class FieldReader {
 public:
  FieldReader(simdjson::ondemand::object object, Arena& arena) : arena_(arena) {
    if (Check(object.begin().get(next_)) && Check(object.end().get(end_))) Load();
  }

  bool failed() const { return !problem_.empty(); }
  const std::string& problem() const { return problem_; }

  // Takes the value of `key`, when that is where the record begins.
  bool TakeFirst(std::string_view key, std::string_view& out) {
    if (!pending_ || !key_.unsafe_is_equal(key)) return false;
    Take(key, out);
    return !failed();
  }

  void PassOverAll() {
    while (pending_) PassOver();
  }

  template <typename Record>
  void Read(Record& record) {
    while (pending_) {
      const uint32_t before = taken_;
      Walk(record);
      if (taken_ == before) PassOver();
    }
    if (failed()) return;
    missing_ = {};
    Walk(record);
    if (!missing_.empty()) problem_ = "has no \"" + std::string(missing_) + "\"";
  }

  template <typename T>
  void Required(std::string_view key, T& value) {
    const uint32_t bit = Field(key, [&](JsonValue v) { return ReadValue(v, value, arena_); });
    if (!(seen_ & bit) && missing_.empty()) missing_ = key;
  }

  template <typename T>
  void Always(std::string_view key, T& value) {
    Field(key, [&](JsonValue v) { return ReadValue(v, value, arena_); });
  }

  template <typename T>
  void Optional(std::string_view key, T& value) {
    Always(key, value);
  }

  template <typename T>
  void Optional(std::string_view key, T& value, const T&) {
    Always(key, value);
  }

  void RequiredHex(std::string_view key, uint64_t& value) {
    const uint32_t bit = Field(key, [&](JsonValue v) { return ReadHex(v, value); });
    if (!(seen_ & bit) && missing_.empty()) missing_ = key;
  }

  void AlwaysHex(std::string_view key, uint64_t& value) { Hex(key, value); }

  void Hex(std::string_view key, uint64_t& value) {
    Field(key, [&](JsonValue v) { return ReadHex(v, value); });
  }

  template <typename T>
  void Present(std::string_view key, bool& present, T& value) {
    const uint32_t bit = Field(key, [&](JsonValue v) { return ReadValue(v, value, arena_); });
    present = (seen_ & bit) != 0;
  }

 private:
  template <typename Record>
  void Walk(Record& record) {
    index_ = 0;
    VisitFields(*this, record);
    Optional("t", record.time);
    Optional("src", record.source);
  }

  // Takes the pending value if it is this field's; returns the field's bit in `seen_`.
  template <typename Read>
  uint32_t Field(std::string_view key, Read read) {
    const uint32_t bit = 1u << index_++;
    if (!pending_ || !key_.unsafe_is_equal(key)) return bit;
    seen_ |= bit;
    TakeWith(key, read);
    return bit;
  }

  template <typename T>
  void Take(std::string_view key, T& out) {
    TakeWith(key, [&](JsonValue v) { return ReadValue(v, out, arena_); });
  }

  template <typename Read>
  void TakeWith(std::string_view key, Read read) {
    JsonValue value = field_.value();
    if (Expected wanted = read(value)) {
      problem_ = "has a bad \"" + std::string(key) + "\": it should be " + wanted;
      pending_ = false;
      return;
    }
    PassOver();
    ++taken_;
  }

  // Moves on to the next key.
  void PassOver() {
    ++next_;
    Load();
  }

  void Load() {
    pending_ = next_ != end_;
    if (!pending_) return;
    if (Check((*next_).get(field_))) key_ = field_.key();
  }

  bool Check(simdjson::error_code error) {
    if (!error) return true;
    problem_ = std::string("isn't valid JSON (") + simdjson::error_message(error) + ")";
    pending_ = false;
    return false;
  }

  Arena& arena_;
  simdjson::ondemand::object_iterator next_;
  simdjson::ondemand::object_iterator end_;
  simdjson::ondemand::field field_;
  simdjson::ondemand::raw_json_string key_;
  std::string problem_;
  std::string_view missing_;
  bool pending_ = false;
  uint32_t index_ = 0;
  uint32_t seen_ = 0;
  uint32_t taken_ = 0;
};

}  // namespace graphkit
