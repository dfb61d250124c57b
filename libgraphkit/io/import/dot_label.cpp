// What the label of a node says. Verbose ones are records,
//
//     {KERNEL
//     | {ID | 3 (topoId: 1) | _Z3addPf\<\<\<\{16,2,1\},128,0\>\>\>}
//     | {{node handle | func handle} | {0x… | 0x…}} …
//
// short ones a few lines that `\n` parts.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "libgraphkit/io/import/dot.h"

namespace graphkit {
namespace {

struct KindWord {
  std::string_view word;  // upper case, without spaces and underscores
  NodeKind kind;
};

constexpr std::array<KindWord, 27> kKinds = {{
    {"KERNEL", NodeKind::kKernel},
    {"MEMCPY", NodeKind::kMemcpy},
    {"MEMSET", NodeKind::kMemset},
    {"HOST", NodeKind::kHost},
    {"GRAPH", NodeKind::kChildGraph},
    {"CHILDGRAPH", NodeKind::kChildGraph},
    {"SUBGRAPH", NodeKind::kChildGraph},
    {"EMPTY", NodeKind::kEmpty},
    {"WAITEVENT", NodeKind::kEventWait},
    {"EVENTWAIT", NodeKind::kEventWait},
    {"EVENTRECORD", NodeKind::kEventRecord},
    {"RECORDEVENT", NodeKind::kEventRecord},
    {"EXTSEMASSIGNAL", NodeKind::kExternalSemaphoreSignal},
    {"EXTSEMSIGNAL", NodeKind::kExternalSemaphoreSignal},
    {"EXTERNALSEMAPHORESIGNAL", NodeKind::kExternalSemaphoreSignal},
    {"EXTERNALSEMAPHORESSIGNAL", NodeKind::kExternalSemaphoreSignal},
    {"EXTSEMASWAIT", NodeKind::kExternalSemaphoreWait},
    {"EXTSEMWAIT", NodeKind::kExternalSemaphoreWait},
    {"EXTERNALSEMAPHOREWAIT", NodeKind::kExternalSemaphoreWait},
    {"EXTERNALSEMAPHORESWAIT", NodeKind::kExternalSemaphoreWait},
    {"MEMALLOC", NodeKind::kMemAlloc},
    {"MEMFREE", NodeKind::kMemFree},
    {"BATCHMEMOP", NodeKind::kBatchMemOp},
    {"CONDITIONAL", NodeKind::kConditional},
    {"IF", NodeKind::kConditional},
    {"WHILE", NodeKind::kConditional},
    {"SWITCH", NodeKind::kConditional},
}};

std::string Trimmed(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

// The fields of a record and the lines of a text, without what separates them.
std::vector<std::string> Fields(std::string_view label) {
  std::vector<std::string> fields;
  std::string field;
  const auto end = [&] {
    field = Trimmed(field);
    if (!field.empty()) fields.push_back(field);
    field.clear();
  };
  for (size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    if (c == '\\' && i + 1 < label.size()) {
      const char escaped = label[++i];
      if (escaped == 'n' || escaped == 'l' || escaped == 'r') {
        end();
      } else {
        field += escaped;
      }
    } else if (c == '|' || c == '{' || c == '}' || c == '\n') {
      end();
    } else {
      field += c;
    }
  }
  end();
  return fields;
}

NodeKind FieldKind(std::string_view field) {
  std::string word;
  for (const char c : field) {
    if (c == ' ' || c == '_') continue;
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (word.ends_with("NODE") && word.size() > 4) word.resize(word.size() - 4);
  for (const KindWord& known : kKinds) {
    if (word == known.word) return known.kind;
  }
  return NodeKind::kUnknown;
}

// Up to three numbers: "128", "{16,2,1}"; what is missing stays.
void ReadDimensions(std::string_view& text, uint32_t out[3]) {
  const bool braces = text.starts_with('{');
  if (braces) text.remove_prefix(1);
  for (size_t i = 0; i < (braces ? 3 : 1); ++i) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    out[i] = number;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (braces && text.starts_with(',')) text.remove_prefix(1);
  }
  if (braces && text.starts_with('}')) text.remove_prefix(1);
  if (text.starts_with(',')) text.remove_prefix(1);
}

// "<<<grid,block,shared>>>"
LaunchShape ReadShape(std::string_view text) {
  LaunchShape shape;
  ReadDimensions(text, shape.grid);
  ReadDimensions(text, shape.block);
  uint32_t shared[3] = {0, 0, 0};
  ReadDimensions(text, shared);
  shape.shared_bytes = shared[0];
  return shape;
}

bool IsNumber(std::string_view field) {
  return !field.empty() && field.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

DraftNode ParseDotLabel(std::string_view label) {
  DraftNode node;
  const std::vector<std::string> fields = Fields(label);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const size_t shape = field.find("<<<");
    if (shape != std::string::npos) {
      node.kind = NodeKind::kKernel;
      node.kernel = Trimmed(std::string_view(field).substr(0, shape));
      if (node.kernel.empty() && i > 0) node.kernel = fields[i - 1];
      node.shape = ReadShape(std::string_view(field).substr(shape + 3));
      return node;
    }
    if (node.kind == NodeKind::kUnknown && i < 3) node.kind = FieldKind(field);
  }
  // A kernel without a shape: its name follows its number.
  for (size_t i = 0; i + 1 < fields.size() && node.kind == NodeKind::kKernel; ++i) {
    const bool number = IsNumber(fields[i]) || fields[i].find("topoId") != std::string::npos;
    if (number && FieldKind(fields[i + 1]) == NodeKind::kUnknown) {
      node.kernel = fields[i + 1];
      break;
    }
  }
  return node;
}

}  // namespace graphkit
