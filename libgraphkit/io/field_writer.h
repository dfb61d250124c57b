// Records → lines of a trace file: the counterpart of FieldReader.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#include "libgraphkit/io/record.h"
#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_writer.h"

namespace graphkit {

// Values: where the records' texts and lists are (TraceValues, LooseValues).
template <typename Values>
class FieldWriter {
 public:
  FieldWriter(RecordLine& line, const Values& values) : line_(line), values_(values) {}

  // The record's object, without what follows it in the file; valid until the line's next Start.
  template <typename Record>
  std::string_view Write(Record& record) {
    line_.Start(Record::kType);
    record.Fields(*this);
    Optional("t", record.time);
    Optional("src", record.source);
    return line_.Finish();
  }

  void Required(std::string_view key, auto&& value) {
    line_.Key(key);
    Value(value);
  }
  void Always(std::string_view key, auto&& value) { Required(key, value); }
  void Optional(std::string_view key, auto&& value) {
    if (!LeftOut(value)) Required(key, value);
  }
  void Optional(std::string_view key, auto& value, const auto& left_out) {
    if (value != left_out) Required(key, value);
  }
  void Present(std::string_view key, bool present, auto&& value) {
    if (present) Required(key, value);
  }

 private:
  template <typename T>
  static bool LeftOut(const T& value) {
    return value == T();
  }
  template <typename T>
  static bool LeftOut(Hex<T> hex) {
    return hex.value == 0;
  }
  static bool LeftOut(Extents extents) {
    return std::ranges::all_of(extents.values, [](uint32_t extent) { return extent == 1; });
  }
  static bool LeftOut(Later later) { return !later.graph; }
  bool LeftOut(StringId text) const { return values_[text].empty(); }
  template <typename T>
  static bool LeftOut(Listed<T> list) {
    return list.slice.count == 0;
  }
  template <typename T>
  static bool LeftOut(std::span<const T> list) {
    return list.empty();
  }

  void Value(std::integral auto value) { line_.Decimal(value); }
  void Value(bool value) { line_.Put(value ? "true" : "false"); }
  void Value(const std::string& text) { line_.Quoted(text); }
  void Value(StringId text) { line_.Quoted(values_[text]); }
  void Value(EdgeType type) { line_.Decimal(static_cast<unsigned>(type)); }
  template <typename Tag>
  void Value(Id<Tag> id) {
    line_.Decimal(id.value);
  }
  void Value(Later later) { Value(later.graph); }
  template <typename T>
  void Value(Hex<T> hex) {
    line_.Hexadecimal(hex.value);
  }
  void Value(Length length) {
    line_.Decimal(length.bytes != kLengthUnknown ? static_cast<int64_t>(length.bytes) : -1);
  }
  void Value(Half half) { line_.Decimal(static_cast<uint32_t>(half.number >> half.shift)); }
  template <typename Enum>
  requires requires { Names<Enum>::value; }
  void Value(Enum value) { Word(Names<Enum>::value, static_cast<size_t>(value)); }
  template <typename Words>
  void Value(AsWord<Words> word) {
    const auto* kind = std::ranges::find(Words::kKinds, word.kind);
    Word(Words::value, static_cast<size_t>(kind - std::begin(Words::kKinds)));
  }
  void Word(const auto& words, size_t index) {
    line_.Put("\"");
    line_.Put(index < words.size() ? words[index] : std::string_view("unknown"));
    line_.Put("\"");
  }

  void Tuple(auto&&... values) {
    std::string_view before = "[";
    ((line_.Put(before), before = ",", Value(values)), ...);
    line_.Put("]");
  }
  void Value(Extents extents) { List(extents.values); }
  template <typename T>
  requires(kParts<T> != nullptr) void Value(T entry) {
    Parts(entry, [&](auto&&... parts) {
      Tuple(parts...);
      return true;
    });
  }
  void List(const auto& entries) {
    std::string_view before;
    line_.Put("[");
    for (const auto& entry : entries) {
      line_.Put(before);
      Value(entry);
      before = ",";
    }
    line_.Put("]");
  }
  template <typename T>
  void Value(std::span<const T> list) {
    List(list);
  }
  template <typename T>
  void Value(Listed<T> list) {
    List(values_.Of(list.slice, list.column));
  }
  void Value(const std::vector<std::string>& texts) { List(texts); }

  RecordLine& line_;
  const Values& values_;
};

}  // namespace graphkit
