#include "plugins/soft_cuda/model/kernel_writes.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "plugins/soft_cuda/abi/stand_in.h"

namespace graphkit::soft {
namespace {

std::string Demangled(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

bool Opens(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
bool Closes(char c) { return c == ')' || c == '>' || c == ']' || c == '}'; }

// The text between the last pair of parentheses.
std::string_view LastParentheses(std::string_view text) {
  const size_t end = text.rfind(')');
  if (end == std::string_view::npos) return {};
  int depth = 0;
  for (size_t i = end + 1; i-- > 0;) {
    if (text[i] == ')' || text[i] == ']') ++depth;
    if (text[i] == '(' || text[i] == '[') --depth;
    if (depth == 0) return text.substr(i + 1, end - i - 1);
  }
  return {};
}

// The use of an 8-byte parameter; none: it is only read.
std::optional<WriteSlot::Use> UseOf(std::string_view type) {
  for (std::string_view end : {" __restrict", "__restrict__", " "}) {
    while (type.ends_with(end)) type.remove_suffix(end.size());
  }
  if (!type.ends_with('*')) return WriteSlot::Use::kUnknown;
  type.remove_suffix(1);
  if (type.ends_with(" const")) return std::nullopt;
  return WriteSlot::Use::kWritten;
}

bool IsAddressArray(std::string_view type) {
  return type.starts_with("std::array<char*") || type.starts_with("at::detail::Array<char*");
}

WriteSlot::Use UseOfStruct(std::string_view kernel, std::string_view type) {
  if (type.starts_with("at::native::ReduceOp<")) return WriteSlot::Use::kReduction;
  if (IsAddressArray(type)) return WriteSlot::Use::kFirst;
  // Lists of tensors and other libraries' iterators have no order that is known.
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  const bool is_lambda = type.find("{lambda") != std::string_view::npos;
  return kernel.starts_with("at::native::") && is_lambda ? WriteSlot::Use::kLambda
                                                         : WriteSlot::Use::kUnknown;
}

std::vector<WrittenWord> AllMaybe(std::span<const uint64_t> words, const MemoryTest& is_memory) {
  std::vector<WrittenWord> written;
  for (const uint64_t word : words) {
    if (is_memory(word)) written.push_back({word, false});
  }
  return written;
}

// ReduceOp's last words, from its source on; empty: it has another layout. What it holds may be
// aligned to 16 bytes, then a word may follow.
std::span<const uint64_t> ReductionAddresses(std::span<const uint64_t> words) {
  constexpr size_t kTail = 8;
  for (size_t end : {words.size(), words.size() - 1}) {
    if (end < kTail || end > words.size()) continue;
    const uint64_t results = words[end - 1] >> 32;
    if (results == 1 || results == 2) return words.subspan(end - kTail, kTail);
  }
  return {};
}

std::vector<WrittenWord> OfReduction(std::span<const uint64_t> words, const MemoryTest& is_memory) {
  const std::span<const uint64_t> tail = ReductionAddresses(words);
  if (tail.empty()) return AllMaybe(words, is_memory);
  std::vector<WrittenWord> written;
  const bool has_second = tail.back() >> 32 == 2;
  for (size_t i = 1; i <= 5; ++i) {
    if ((i != 2 || has_second) && is_memory(tail[i])) written.push_back({tail[i]});
  }
  return written;
}

// OffsetCalculator<N>: the number of dimensions, 25 divisors of 12 bytes, 25 strides of N operands.
std::vector<WrittenWord> OfLambda(std::span<const uint64_t> words, const MemoryTest& is_memory) {
  constexpr size_t kDimensions = 25;
  constexpr size_t kOperands = 8;
  constexpr uint64_t kBlock = 512;  // PyTorch's allocator rounds to it
  const auto after = [](size_t n) { return (4 + kDimensions * (12 + 4 * n) + 7) / 8; };
  const bool counts = static_cast<uint32_t>(words[0]) <= kDimensions && !is_memory(words[0]);
  const bool is_long = words.size() > after(1);
  if (is_long && counts) {
    for (size_t n = kOperands; n >= 1; --n) {  // fewer would end among the strides
      if (after(n) < words.size() && is_memory(words[after(n)])) return {{words[after(n)]}};
    }
  }
  std::vector<WrittenWord> all = AllMaybe(words, is_memory);
  const bool is_first = !all.empty() && (!is_long || all[0].address == words[0]);
  if (!is_first || all[0].address % kBlock != 0) return all;
  return {{all[0].address}};
}

// Of a library's stand-in: the operands that it declares; of a collective none.
std::vector<WriteSlot> SlotsOfStandIn(const KernelInfo& kernel) {
  std::vector<WriteSlot> slots;
  for (uint32_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& p = kernel.parameters[i];
    if (p.size == sizeof(graphkit_soft_collective)) return {};
    if (p.size == sizeof(graphkit_soft_operand))
      slots.push_back({i, p.offset, p.size / 8, WriteSlot::Use::kOperand});
  }
  return slots;
}

}  // namespace

std::vector<std::string> ParameterTypes(std::string_view mangled) {
  const std::string text = Demangled(mangled);
  const std::string_view list = LastParentheses(text);
  std::vector<std::string> types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size() && !list.empty(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    depth += Opens(c) ? 1 : Closes(c) ? -1 : 0;
    if (c != ',' || (depth != 0 && i < list.size())) continue;
    begin += list[begin] == ' ' ? 1u : 0u;
    types.emplace_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return types;
}

std::vector<WriteSlot> WriteSlots(const KernelInfo& kernel, bool is_stand_in) {
  if (is_stand_in) return SlotsOfStandIn(kernel);
  std::vector<WriteSlot> slots;
  const std::vector<std::string> types = ParameterTypes(kernel.name);
  const std::string name = Demangled(kernel.name);
  const bool typed = types.size() == kernel.parameters.size();
  for (uint32_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& p = kernel.parameters[i];
    const auto add = [&](WriteSlot::Use use) { slots.push_back({i, p.offset, p.size / 8, use}); };
    if (p.size == 8) {
      auto use = typed ? UseOf(types[i]) : WriteSlot::Use::kUnknown;
      if (typed && IsAddressArray(types[i])) use = WriteSlot::Use::kFirst;
      if (use) add(*use);
    } else if (p.size > 8 && p.offset % 8 == 0) {
      add(typed ? UseOfStruct(name, types[i]) : WriteSlot::Use::kUnknown);
    }
  }
  return slots;
}

std::vector<WrittenWord> WrittenWords(WriteSlot::Use use, std::span<const uint64_t> words,
                                      const MemoryTest& is_memory) {
  switch (use) {
    case WriteSlot::Use::kWritten:
    case WriteSlot::Use::kFirst:
      if (words.empty() || !is_memory(words[0])) return {};
      return {{words[0]}};
    case WriteSlot::Use::kLambda:
      return OfLambda(words, is_memory);
    case WriteSlot::Use::kReduction:
      return OfReduction(words, is_memory);
    default:
      return AllMaybe(words, is_memory);
  }
}

}  // namespace graphkit::soft
