#include "plugins/cupti_tracer/kernels.h"

#include <algorithm>
#include <cstring>

#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

// The parameter list of a demangled function: what stands between its last pair of parentheses at
// the outermost level, so that template arguments and return types don't disturb.
std::string_view ParameterList(std::string_view text) {
  if (size_t suffix = text.rfind(')'); suffix != std::string_view::npos) {
    int depth = 0;
    for (size_t i = suffix + 1; i-- > 0;) {
      char c = text[i];
      if (c == ')' || c == ']') ++depth;
      if (c == '(' || c == '[') --depth;
      if (depth == 0) return text.substr(i + 1, suffix - i - 1);
    }
  }
  return {};
}

ParamUse UseOf(std::string_view type) {
  for (std::string_view qualifier : {" __restrict", "__restrict__", " "}) {
    while (type.ends_with(qualifier)) type.remove_suffix(qualifier.size());
  }
  if (!type.ends_with('*')) return ParamUse::kUnknown;
  type.remove_suffix(1);
  bool read = type.ends_with(" const");
  if (read) type.remove_suffix(6);
  if (type.ends_with('*')) return ParamUse::kIndirect;
  return read ? ParamUse::kRead : ParamUse::kAny;
}

}  // namespace

std::vector<ParamUse> ParamUses(const std::string& mangled) {
  std::string text = DemangledName(mangled).value_or("");
  std::string_view list = ParameterList(text);
  std::vector<ParamUse> uses;
  if (list.empty() || list == "void") return uses;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth != 0 && i < list.size())) continue;
    uses.push_back(UseOf(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return uses;
}

const KernelInfo* KernelTable::Find(uint64_t function, const char* name) const {
  KernelInfo* const* found = by_function_.Find(function);
  if (found == nullptr) return nullptr;
  return name == nullptr || (*found)->name == name ? *found : nullptr;
}

KernelInfo& KernelTable::Add(uint64_t function, KernelLayout layout, bool& is_new) {
  auto [begin, end] = by_name_.equal_range(layout.name);
  for (auto it = begin; it != end; ++it) {
    KernelInfo& known = *it->second;
    if (known.has_layout != layout.known || known.params != layout.params ||
        known.code != layout.code) {
      continue;
    }
    is_new = false;
    by_function_.Insert(function, &known);
    return known;
  }
  KernelInfo& info = kernels_.emplace_back();
  info.id = KernelId(kernels_.size() - 1);
  info.uses = ParamUses(layout.name);
  if (layout.operands) {
    info.uses.assign(layout.params.size(), ParamUse::kOperand);
  } else if (info.uses.size() != layout.params.size()) {
    info.uses.assign(layout.params.size(), ParamUse::kUnknown);
  }
  info.indirect =
      std::find(info.uses.begin(), info.uses.end(), ParamUse::kIndirect) != info.uses.end();
  // (output, inputs, …); its other parameters are no addresses.
  if (layout.name.find("CatArrInputTensorMetadata") != std::string::npos) info.by_row = 1;
  info.has_layout = layout.known;
  info.code = layout.code;
  info.params = std::move(layout.params);
  info.name = std::move(layout.name);
  by_name_.emplace(info.name, &info);
  by_function_.Insert(function, &info);
  is_new = true;
  return info;
}

}  // namespace graphkit
