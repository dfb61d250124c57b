#include "plugins/cupti_tracer/recorder/kernels.h"

#include <algorithm>
#include <bit>
#include <iterator>

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

// The types of a mangled C++ function's parameters.
std::vector<std::string> ParamTypes(const std::string& mangled) {
  std::string text = DemangledName(mangled).value_or("");
  std::string_view list = ParameterList(text);
  std::vector<std::string> types;
  if (list.empty() || list == "void") return types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth != 0 && i < list.size())) continue;
    std::string_view type = list.substr(begin, i - begin);
    while (type.starts_with(' ')) type.remove_prefix(1);
    types.emplace_back(type);
    begin = i + 1;
  }
  return types;
}

struct Arithmetic {
  std::string_view type;
  size_t size;
};
constexpr Arithmetic kArithmetic[] = {
    {"bool", 1},          {"char", 1},           {"signed char", 1}, {"unsigned char", 1},
    {"short", 2},         {"unsigned short", 2}, {"int", 4},         {"unsigned int", 4},
    {"long", 8},          {"unsigned long", 8},  {"long long", 8},   {"unsigned long long", 8},
    {"float", 4},         {"double", 8},         {"__half", 2},      {"c10::Half", 2},
    {"__nv_bfloat16", 2}, {"c10::BFloat16", 2},
};

// Of a class template of one type, that type: "FillFunctor<float>" is a float if it is as large. An
// empty class has one byte.
bool IsScalar(std::string_view type, size_t size) {
  if (type.ends_with('>') && size > 1) {
    type = type.substr(type.find('<') + 1);
    type.remove_suffix(1);
  }
  const auto* found = std::ranges::find(kArithmetic, type, &Arithmetic::type);
  return found != std::end(kArithmetic) && found->size == size;
}

}  // namespace

std::vector<ParamUse> ParamUses(const std::string& mangled) {
  std::vector<ParamUse> uses;
  for (const std::string& type : ParamTypes(mangled)) uses.push_back(UseOf(type));
  return uses;
}

std::vector<ScalarPlace> ScalarPlaces(const std::string& mangled,
                                      const std::vector<KernelParam>& params) {
  constexpr size_t kMost = 16, kMostBytes = 64, kPiece = 4;
  const std::vector<std::string> types = ParamTypes(mangled);
  const bool typed = DemangledName(mangled).has_value();
  std::vector<ScalarPlace> places;
  if (typed && types.size() != params.size()) return places;
  for (size_t i = 0; i < params.size(); ++i) {
    const size_t size = params[i].size;
    const bool whole =
        typed ? IsScalar(types[i], size) : std::has_single_bit(size) && size <= kWord;
    const size_t piece = whole ? size : kPiece;
    if (!whole && (typed || size > kMostBytes)) continue;
    for (size_t at = 0; at + piece <= size && places.size() < kMost; at += piece) {
      places.push_back({static_cast<uint16_t>(i), static_cast<uint16_t>(at),
                        static_cast<uint8_t>(piece), typed});
    }
  }
  return places;
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
  if (!layout.operands) info.scalars = ScalarPlaces(layout.name, layout.params);
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
