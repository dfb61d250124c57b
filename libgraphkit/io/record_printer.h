// Records → lines of a trace file: the counterpart of FieldReader.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Appends `text` as a JSON string. Bytes that aren't UTF-8 become U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

class RecordPrinter {
 public:
  explicit RecordPrinter(std::string& out) : out_(out) {}

  // Appends the record's object, without what follows it in the file.
  template <typename Record>
  void Print(Record& record) {
    out_ += R"({"type":")";
    out_ += Record::kType;
    out_ += '"';
    VisitFields(*this, record);
    Optional("t", record.time);
    Optional("src", record.source);
    out_ += '}';
  }

  template <typename T>
  void Required(std::string_view key, const T& value) {
    Key(key);
    Value(value);
  }

  template <typename T>
  void Always(std::string_view key, const T& value) {
    Required(key, value);
  }

  template <typename T>
  void Optional(std::string_view key, const T& value, const T& left_out = T()) {
    if (!(value == left_out)) Required(key, value);
  }

  template <typename T>
  void Optional(std::string_view key, const std::span<const T>& values) {
    if (!values.empty()) Required(key, values);
  }

  void RequiredHex(std::string_view key, uint64_t value) {
    Key(key);
    out_ += "\"0x";
    Number(value, 16);
    out_ += '"';
  }

  void AlwaysHex(std::string_view key, uint64_t value) { RequiredHex(key, value); }

  void Hex(std::string_view key, uint64_t value) {
    if (value != 0) RequiredHex(key, value);
  }

  template <typename T>
  void Present(std::string_view key, bool present, const T& value) {
    if (present) Required(key, value);
  }

 private:
  void Key(std::string_view key) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
  }

  template <std::integral T>
  void Number(T value, int base = 10) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, base);
    out_.append(digits, end);
  }

  template <std::integral T>
  void Value(T value) {
    Number(value);
  }
  void Value(bool value) { out_ += value ? "true" : "false"; }
  void Value(std::string_view text) { AppendJsonString(out_, text); }
  void Value(EdgeType type) { Number(static_cast<unsigned>(type)); }
  template <typename Tag>
  void Value(Id<Tag> id) {
    Number(id.value);
  }
  template <typename Enum>
  requires requires { Names<Enum>::value; }
  void Value(Enum value) {
    const auto& names = Names<Enum>::value;
    const auto index = static_cast<size_t>(value);
    Value(index < names.size() ? names[index] : std::string_view("unknown"));
  }

  template <typename... Ts>
  void Tuple(const Ts&... values) {
    out_ += '[';
    bool first = true;
    ((first ? void() : void(out_ += ','), first = false, Value(values)), ...);
    out_ += ']';
  }
  void Value(const std::array<uint32_t, 3>& v) { Tuple(v[0], v[1], v[2]); }
  void Value(const KernelParam& v) { Tuple(v.offset, v.size); }
  void Value(const FrameRecord& v) { Tuple(v.function, v.file, v.line); }
  void Value(const FrontierEntry& v) { Tuple(v.node, v.from_port, v.edge_type); }
  void Value(const Access& v) {
    const bool known = v.length != kLengthUnknown;
    Tuple(v.block, v.mode, v.offset, known ? static_cast<int64_t>(v.length) : int64_t{-1});
  }
  void Value(const ToolIdRun& v) {
    Tuple(v.first, v.count, v.tool_id >> 32, v.tool_id & 0xffffffffu);
  }
  template <typename T>
  void Value(std::span<const T> values) {
    out_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_ += ',';
      Value(values[i]);
    }
    out_ += ']';
  }

  std::string& out_;
};

}  // namespace graphkit
