// JSON values → C++ values: one overload of ReadValue a type. Each returns nullptr, or what the
// value should have been ("a number").
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/arena.h"
#include "libgraphkit/io/json_cursor.h"
#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

using Expected = const char*;

template <std::unsigned_integral T>
Expected ReadValue(JsonCursor& in, T& out, Arena&) {
  uint64_t number = 0;
  if (!in.TakeNumber(number)) return "a whole number, not negative";
  if (number > std::numeric_limits<T>::max()) return "a smaller number";
  out = static_cast<T>(number);
  return nullptr;
}

template <std::signed_integral T>
Expected ReadValue(JsonCursor& in, T& out, Arena&) {
  int64_t number = 0;
  if (!in.TakeNumber(number)) return "a whole number";
  if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::min()) {
    return "a smaller number";
  }
  out = static_cast<T>(number);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, bool& out, Arena&) {
  out = in.TakeWord("true");
  return out || in.TakeWord("false") ? nullptr : "true or false";
}

template <typename Tag>
Expected ReadValue(JsonCursor& in, Id<Tag>& out, Arena&) {
  uint64_t number = 0;
  if (!in.TakeNumber(number) || number >= Id<Tag>::kNone) return "an id";
  out = Id<Tag>(static_cast<uint32_t>(number));
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, std::string_view& out, Arena& arena) {
  JsonText text;
  if (!in.TakeText(text)) return "a string";
  if (!text.has_escapes) {
    out = arena.Copy(text.raw);
    return nullptr;
  }
  std::string unescaped;
  if (!AppendUnescaped(text.raw, unescaped)) return "a string with JSON's escapes";
  out = arena.Copy(unescaped);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, EdgeType& out, Arena&) {
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

template <typename Enum>
requires requires { Names<Enum>::value; }
Expected ReadValue(JsonCursor& in, Enum& out, Arena&) {
  JsonText text;
  if (!in.TakeText(text)) return "a string";
  const auto& names = Names<Enum>::value;
  for (size_t i = 0; i < names.size(); ++i) {
    if (text.raw != names[i]) continue;
    out = static_cast<Enum>(i);
    return nullptr;
  }
  if constexpr (std::same_as<Enum, NodeKind>) {
    out = NodeKind::kUnknown;
    if (text.raw == "unknown") return nullptr;
  }
  static const std::string words = OneOf(names);
  return words.c_str();
}

// "0x…", up to 16 digits.
inline Expected ReadHex(JsonCursor& in, uint64_t& out) {
  constexpr const char* kWanted = "a string like \"0x7f0000\"";
  JsonText text;
  if (!in.TakeText(text) || !text.raw.starts_with("0x")) return kWanted;
  text.raw.remove_prefix(2);
  if (text.raw.empty() || text.raw.size() > 16) return kWanted;
  uint64_t number = 0;
  for (const char c : text.raw) {
    const unsigned decimal = static_cast<unsigned char>(c) - unsigned{'0'};
    const unsigned letter = (static_cast<unsigned char>(c) | 0x20u) - unsigned{'a'};
    if (decimal > 9 && letter > 5) return kWanted;
    number = number << 4 | (decimal <= 9 ? decimal : letter + 10);
  }
  out = number;
  return nullptr;
}

// Reads an array that holds exactly these values.
template <typename... Ts>
bool ReadTuple(JsonCursor& in, Arena& arena, Ts&... outs) {
  if (!in.Take('[')) return false;
  bool first = true;
  const auto read = [&](auto& out) {
    if (!first && !in.Take(',')) return false;
    first = false;
    return ReadValue(in, out, arena) == nullptr;
  };
  return (read(outs) && ...) && in.Take(']');
}

inline Expected ReadValue(JsonCursor& in, std::array<uint32_t, 3>& out, Arena& arena) {
  return ReadTuple(in, arena, out[0], out[1], out[2]) ? nullptr : "three numbers";
}

inline Expected ReadValue(JsonCursor& in, KernelParam& out, Arena& arena) {
  return ReadTuple(in, arena, out.offset, out.size) ? nullptr : "[offset,size]";
}

inline Expected ReadValue(JsonCursor& in, FrameRecord& out, Arena& arena) {
  return ReadTuple(in, arena, out.function, out.file, out.line) ? nullptr : "[function,file,line]";
}

inline Expected ReadValue(JsonCursor& in, FrontierEntry& out, Arena& arena) {
  return ReadTuple(in, arena, out.node, out.from_port, out.edge_type)
             ? nullptr
             : "[node,from_port,edge_type]";
}

inline Expected ReadValue(JsonCursor& in, Access& out, Arena& arena) {
  int64_t length = 0;
  if (!ReadTuple(in, arena, out.block, out.mode, out.offset, length) || length < -1) {
    return "[block,mode,offset,length]";
  }
  out.length = length < 0 ? kLengthUnknown : static_cast<Bytes>(length);
  return nullptr;
}

inline Expected ReadValue(JsonCursor& in, ToolIdRun& out, Arena& arena) {
  uint32_t graph = 0;
  uint32_t number = 0;
  if (!ReadTuple(in, arena, out.first, out.count, graph, number)) {
    return "[node,count,tool_id,number]";
  }
  out.tool_id = uint64_t{graph} << 32 | number;
  return nullptr;
}

template <typename T>
Expected ReadValue(JsonCursor& in, std::span<const T>& out, Arena& arena) {
  if (!in.Take('[')) return "a list";
  if (in.Take(']')) return nullptr;
  thread_local std::vector<T> entries;
  entries.clear();
  do {
    if (Expected wrong = ReadValue(in, entries.emplace_back(), arena)) return wrong;
  } while (in.Take(','));
  out = arena.Copy(entries);
  return in.Take(']') ? nullptr : "a list";
}

}  // namespace graphkit
