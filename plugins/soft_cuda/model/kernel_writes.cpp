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

WriteSlot::Use UseOfStruct(std::string_view kernel, std::string_view type) {
  if (type.starts_with("at::native::ReduceOp<")) return WriteSlot::Use::kAfterFirst;
  if (type.starts_with("std::array<char*") || type.starts_with("at::detail::Array<char*"))
    return WriteSlot::Use::kFirst;
  // A lambda of PyTorch's own kernels: its first address is the output's. Lists of tensors and
  // other libraries' iterators have no such order.
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  const bool is_lambda = type.find("{lambda") != std::string_view::npos;
  return kernel.starts_with("at::native::") && is_lambda ? WriteSlot::Use::kFirst
                                                         : WriteSlot::Use::kUnknown;
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
    begin += list[begin] == ' ' ? 1 : 0;
    types.emplace_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return types;
}

std::vector<WriteSlot> WriteSlots(const KernelInfo& kernel, bool is_stand_in) {
  std::vector<WriteSlot> slots;
  std::vector<std::string> types;
  std::string name;
  if (!is_stand_in) {
    types = ParameterTypes(kernel.name);
    name = Demangled(kernel.name);
  }
  bool collective = false;
  for (const Parameter& p : kernel.parameters) {
    collective |= is_stand_in && p.size == sizeof(graphkit_soft_collective);
  }
  const bool typed = types.size() == kernel.parameters.size();
  for (uint32_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& p = kernel.parameters[i];
    const auto add = [&](WriteSlot::Use use) { slots.push_back({i, p.offset, p.size / 8, use}); };
    if (is_stand_in) {
      if (p.size == sizeof(graphkit_soft_operand) && !collective) add(WriteSlot::Use::kOperand);
    } else if (p.size == 8) {
      const auto use = typed ? UseOf(types[i]) : WriteSlot::Use::kUnknown;
      if (use) add(*use);
    } else if (p.size > 8 && p.offset % 8 == 0) {
      add(typed ? UseOfStruct(name, types[i]) : WriteSlot::Use::kUnknown);
    }
  }
  return slots;
}

}  // namespace graphkit::soft
