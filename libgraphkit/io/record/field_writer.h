// Records → lines of a trace file: the counterpart of FieldReader.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#include "libgraphkit/io/record/record.h"
#include "libgraphkit/io/record/record_line.h"

namespace graphkit {

// Values: where the records' texts and lists are (TraceValues, BorrowedValues). What every key goes
// through is always inlined: then a key is copied as a number or two.
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

  [[gnu::always_inline]] void Required(std::string_view key, auto&& value) {
    line_.Key(key);
    Value(value);
  }
  [[gnu::always_inline]] void Always(std::string_view key, auto&& value) { Required(key, value); }
  [[gnu::always_inline]] void Optional(std::string_view key, auto&& value) {
    if (!LeftOut(value)) Required(key, value);
  }
  [[gnu::always_inline]] void Optional(std::string_view key, auto& value, const auto& left_out) {
    if (value != left_out) Required(key, value);
  }
  [[gnu::always_inline]] void Present(std::string_view key, bool present, auto&& value) {
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
    return std::ranges::all_of(extents.value, [](uint32_t extent) { return extent == 1; });
  }
  static bool LeftOut(Later later) { return !later.value; }
  bool LeftOut(StringId text) const { return values_[text].empty(); }
  template <typename Column>
  static bool LeftOut(Listed<Column> list) {
    return list.value.count == 0;
  }
  template <typename T>
  static bool LeftOut(std::span<const T> list) {
    return list.empty();
  }

  [[gnu::always_inline]] void Value(std::integral auto value) { line_.Decimal(value); }
  void Value(TwoWords value) { line_.Decimal(uint64_t{value}); }
  void Value(bool value) { line_.Put(value ? "true" : "false"); }
  void Value(const std::string& text) { line_.Quoted(text); }
  void Value(StringId text) { line_.Quoted(values_[text]); }
  void Value(EdgeType type) { line_.Decimal(static_cast<unsigned>(type)); }
  template <typename Tag>
  [[gnu::always_inline]] void Value(Id<Tag> id) {
    line_.Decimal(id.value);
  }
  void Value(Later later) { Value(later.value); }
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
  void Value(Enum value) { line_.Word(NameOf(value)); }
  template <typename Words>
  void Value(AsWord<Words> word) {
    const auto* kind = std::ranges::find(Words::kKinds, word.value);
    line_.Word(Words::value[static_cast<size_t>(kind - std::begin(Words::kKinds))]);
  }

  void Value(Extents extents) { List(extents.value); }
  template <HasParts T>
  void Value(T entry) {
    line_.Open();
    Parts(entry, [&](auto&&... parts) { return (Part(parts), ..., true); });
    line_.Close();
  }
  void Part(auto&& part) {
    Value(part);
    line_.Comma();
  }
  void Part(RowParts part) {
    const auto [width, pitch, height, layer] = part.rows;
    if (width != 0) (Part(width), Part(pitch), Part(height), Part(layer));
  }
  void List(const auto& entries) {
    line_.Open();
    for (const auto& entry : entries) {
      Value(entry);
      line_.Comma();
    }
    line_.Close();
  }
  template <typename T>
  void Value(std::span<const T> list) {
    List(list);
  }
  template <typename Column>
  void Value(Listed<Column> list) {
    List(values_.Of(list.value, list.column));
  }
  void Value(const std::vector<std::string>& texts) { List(texts); }

  RecordLine& line_;
  const Values& values_;
};

}  // namespace graphkit
