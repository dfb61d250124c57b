// What PTX text says about its kernels: the .param declarations of each .entry give the argument
// layout.
#include <cctype>
#include <charconv>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {
namespace {

std::string_view NextWord(std::string_view text, size_t& at) {
  auto separator = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',' || c == '(';
  };
  while (at < text.size() && separator(text[at])) ++at;
  const size_t begin = at;
  while (at < text.size() && !separator(text[at]) && text[at] != ')' && text[at] != '{') ++at;
  return text.substr(begin, at - begin);
}

uint32_t Number(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// ".u64" → 8; a predicate or an unknown type is one byte.
uint32_t TypeBytes(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  return digits == std::string_view::npos ? 1 : Number(type.substr(digits)) / 8;
}

// ".param .align 8 .b8 name[24]" or ".param .u64 name"
void AddParameter(std::string_view declaration, KernelInfo& kernel, uint32_t& end) {
  uint32_t align = 0;
  uint32_t element = 0;
  uint32_t count = 1;
  for (size_t at = 0; at < declaration.size();) {
    const std::string_view word = NextWord(declaration, at);
    if (word.empty()) break;
    if (word == ".align") {
      const uint32_t value = Number(NextWord(declaration, at));
      if (element == 0)
        align = value;  // after the type it is the alignment of what a pointer points to
    } else if (word == ".ptr" || word == ".param" || word == ".global" || word == ".const") {
      continue;
    } else if (word[0] == '.') {
      element = TypeBytes(word);
    } else if (const size_t bracket = word.find('['); bracket != std::string_view::npos) {
      count = Number(word.substr(bracket + 1));
    }
  }
  if (align == 0) align = element == 0 ? 1 : element;
  const uint32_t offset = (end + align - 1) / align * align;
  kernel.parameters.push_back({offset, element * count});
  end = offset + element * count;
}

KernelInfo ReadEntryPoint(std::string_view text, size_t& at) {
  KernelInfo kernel{.name = std::string(NextWord(text, at)), .parameters = {}};
  const size_t body = text.find('{', at);
  const size_t open = text.find('(', at);
  if (open != std::string_view::npos && open < body) {
    const size_t close = text.find(')', open);
    const std::string_view list = text.substr(open + 1, close - open - 1);
    uint32_t end = 0;
    for (size_t from = list.find(".param"); from != std::string_view::npos;) {
      const size_t next = list.find(".param", from + 1);
      AddParameter(list.substr(from, next - from), kernel, end);
      from = next;
    }
    at = close;
  }
  return kernel;
}

}  // namespace

std::optional<ModuleInfo> ReadPtx(std::string_view text) {
  ModuleInfo module;
  for (size_t at = text.find(".entry"); at != std::string_view::npos;
       at = text.find(".entry", at)) {
    at += 6;
    module.kernels.push_back(ReadEntryPoint(text, at));
  }
  return module;
}

}  // namespace graphkit::soft
