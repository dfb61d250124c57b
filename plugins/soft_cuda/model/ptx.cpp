// Reads PTX text: the .param declarations of each .entry give the argument layout, directives after
// it the limits of a launch, .shared declarations the shared memory; .global and .const
// declarations outside of functions are the variables.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

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

struct Declaration {
  std::string_view name;
  uint32_t align = 0;    // bytes; 0: that of the element
  uint32_t element = 0;  // bytes
  uint32_t count = 1;

  uint32_t bytes() const { return element * count; }
};

// ".align 8 .b8 name[24]" or ".u64 name", with a state space before it.
Declaration ReadDeclaration(std::string_view text) {
  Declaration d;
  for (size_t at = 0; at < text.size();) {
    const std::string_view word = NextWord(text, at);
    if (word.empty() || word == "=") break;
    if (word == ".align") {
      const uint32_t value = Number(NextWord(text, at));
      if (d.element == 0)
        d.align = value;  // after the type it is the alignment of what a pointer points to
    } else if (word == ".attribute") {
      NextWord(text, at);
      at = std::min(text.find(')', at), text.size() - 1) + 1;
    } else if (word == ".ptr" || word == ".param" || word == ".global" || word == ".const" ||
               word == ".shared") {
      continue;
    } else if (word[0] == '.') {
      d.element = TypeBytes(word);
    } else {
      const size_t bracket = word.find('[');
      d.name = word.substr(0, bracket);
      if (bracket != std::string_view::npos) d.count = Number(word.substr(bracket + 1));
      break;
    }
  }
  return d;
}

void AddParameter(std::string_view text, KernelInfo& kernel, uint32_t& end) {
  const Declaration d = ReadDeclaration(text);
  const uint32_t align = d.align != 0 ? d.align : std::max(d.element, 1u);
  const uint32_t offset = (end + align - 1) / align * align;
  kernel.parameters.push_back({offset, d.bytes()});
  end = offset + d.bytes();
}

// The end of the block that opens at `open`.
size_t EndOfBlock(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at;
  }
  return text.size();
}

// ".maxntid 128, 1, 1" and the like, between the parameters and the body.
void ReadDirectives(std::string_view text, KernelInfo& kernel) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view word = NextWord(text, at);
    if (word.empty()) break;
    const bool threads = word == ".maxntid" || word == ".reqntid";
    if (!threads && word != ".reqnctapercluster") continue;
    uint32_t sizes[3] = {1, 1, 1};
    for (uint32_t& size : sizes) {
      size_t next = at;
      const std::string_view number = NextWord(text, next);
      if (number.empty() || std::isdigit(static_cast<unsigned char>(number[0])) == 0) break;
      size = Number(number);
      at = next;
    }
    if (threads) kernel.max_threads = sizes[0] * sizes[1] * sizes[2];
    if (!threads) std::copy(sizes, sizes + 3, kernel.cluster);
  }
}

uint32_t SharedIn(std::string_view body) {
  uint32_t bytes = 0;
  for (size_t at = body.find(".shared "); at != std::string_view::npos;
       at = body.find(".shared ", at + 1)) {
    bytes += ReadDeclaration(body.substr(at, body.find(';', at) - at)).bytes();
  }
  return bytes;
}

// From behind the name's ".entry" to the end of the body, or of the declaration.
KernelInfo ReadEntryPoint(std::string_view text) {
  size_t at = 0;
  KernelInfo kernel{.name = std::string(NextWord(text, at)), .parameters = {}};
  const size_t body = std::min(text.find('{', at), text.size());
  const size_t open = text.find('(', at);
  size_t close = at;
  if (open < body) {
    close = std::min(text.find(')', open) + 1, body);
    const std::string_view list = text.substr(open + 1, close - open - 2);
    uint32_t end = 0;
    for (size_t from = list.find(".param"); from != std::string_view::npos;) {
      const size_t next = list.find(".param", from + 1);
      AddParameter(list.substr(from, next - from), kernel, end);
      from = next;
    }
  }
  ReadDirectives(text.substr(close, body - close), kernel);
  kernel.shared_bytes = SharedIn(text.substr(body));
  return kernel;
}

// "{0, 0, 128}" or "5" → bytes; addresses of other variables stay zero.
std::string InitialBytes(std::string_view values, uint32_t element) {
  std::string bytes;
  for (size_t at = 0; at < values.size();) {
    at = values.find_first_not_of("{}, \t\n", at);
    if (at == std::string_view::npos) break;
    const size_t end = std::min(values.find_first_of("{}, \t\n", at), values.size());
    std::string word(values.substr(at, end - at));
    const bool real = word.starts_with("0f") || word.starts_with("0d");
    const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-';
    const uint64_t value =
        number ? std::strtoull(real ? word.c_str() + 2 : word.c_str(), nullptr, real ? 16 : 0) : 0;
    char raw[8];
    std::memcpy(raw, &value, sizeof raw);
    bytes.append(raw, std::min<size_t>(element, sizeof raw));
    at = end;
  }
  return bytes;
}

// A statement outside of functions, without its semicolon.
void ReadVariable(std::string_view text, ModuleInfo& module) {
  const bool constant = text.find(".const ") != std::string_view::npos;
  if (!constant && text.find(".global ") == std::string_view::npos) return;
  if (text.find(".extern ") != std::string_view::npos) return;
  const size_t space = text.find(constant ? ".const " : ".global ");
  const Declaration d = ReadDeclaration(text.substr(space));
  if (d.name.empty() || d.bytes() == 0) return;
  VariableInfo variable{std::string(d.name), d.bytes(), constant, false, {}};
  variable.managed = text.find(".managed") != std::string_view::npos;
  if (const size_t equals = text.find('='); equals != std::string_view::npos)
    variable.initial = InitialBytes(text.substr(equals + 1), d.element);
  variable.initial.resize(std::min<size_t>(variable.initial.size(), variable.size));
  module.variables.push_back(std::move(variable));
}

std::string WithoutComments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool line = text.substr(at, 2) == "//";
    if (!line && text.substr(at, 2) != "/*") {
      out.push_back(text[at++]);
      continue;
    }
    const size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
    if (end == std::string_view::npos) break;
    at = line ? end : end + 2;
  }
  return out;
}

// Calls visit(statement) for what lies between semicolons and blocks at the outermost level; a
// block belongs to the statement before it, unless it is a list of values.
template <typename Visit>
void ForEachStatement(std::string_view text, Visit&& visit) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') {
      at = EndOfBlock(text, at);
      if (text.substr(begin, at - begin).find('=') < text.substr(begin).find('{')) continue;
    } else if (text[at] != ';') {
      continue;
    }
    visit(text.substr(begin, at - begin));
    begin = at + 1;
  }
}

}  // namespace

unsigned PtxArchitecture(std::string_view text) {
  const size_t at = text.find(".target");
  const size_t digits = text.find("sm_", at);
  const bool found = at != std::string_view::npos && digits != std::string_view::npos;
  return found ? Number(text.substr(digits + 3)) : 0;
}

std::optional<ModuleInfo> ReadPtx(std::string_view given) {
  const std::string text = WithoutComments(given);
  if (text.find(".version") == std::string::npos || PtxArchitecture(text) == 0) return std::nullopt;
  ModuleInfo module;
  ForEachStatement(text, [&](std::string_view statement) {
    const size_t entry = statement.find(".entry");
    if (entry != std::string_view::npos) {
      module.kernels.push_back(ReadEntryPoint(statement.substr(entry + 6)));
    } else if (statement.find(".func") == std::string_view::npos) {
      ReadVariable(statement, module);
    }
  });
  return module;
}

}  // namespace graphkit::soft
