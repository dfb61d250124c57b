#include "libgraphkit/io/import/dot_graph.h"

#include <unordered_map>

#include "libgraphkit/io/import/dot_tokens.h"

namespace graphkit {
namespace {

class DotParser {
 public:
  explicit DotParser(std::string_view text) : tokens_(text) { Advance(); }

  Result<DotGraph> Run() {
    while (IsWord("strict") || IsWord("digraph") || IsWord("graph")) Advance();
    if (token_.kind == DotTokenKind::kWord) Advance();
    if (!Take('{')) {
      return Error{.message = "not a DOT graph: no '{' after 'digraph'", .line = tokens_.line()};
    }
    out_.clusters.emplace_back();
    open_.push_back(0);
    while (token_.kind != DotTokenKind::kEnd && !open_.empty()) Statement();
    if (open_.empty()) return std::move(out_);
    return Error{.message = "the DOT text ends in the middle",
                 .hint = "the file was cut off: write it again",
                 .line = tokens_.line(),
                 .kind = Error::Kind::kIncomplete};
  }

 private:
  void Advance() { token_ = tokens_.Next(); }
  bool Is(char c) const {
    return token_.kind == DotTokenKind::kPunctuation && token_.character == c;
  }
  bool IsWord(std::string_view word) const {
    return token_.kind == DotTokenKind::kWord && !token_.quoted && token_.text == word;
  }
  bool Take(char c) {
    if (!Is(c)) return false;
    Advance();
    return true;
  }
  std::string TakeText() {
    std::string text = std::move(token_.text);
    Advance();
    return text;
  }

  void Statement();
  void Open(std::string name);
  void NodeOrEdges();
  void Attributes(DotAttributes* out);
  void PassOver() {
    DotAttributes none;
    Attributes(&none);
  }
  uint32_t NodeNamed(const std::string& name, bool declared);

  DotTokens tokens_;
  DotToken token_;
  DotGraph out_;
  std::vector<uint32_t> open_;  // clusters
  std::unordered_map<std::string, uint32_t> numbers_;
};

void DotParser::Open(std::string name) {
  open_.push_back(static_cast<uint32_t>(out_.clusters.size()));
  out_.clusters.push_back({std::move(name), {}});
}

void DotParser::Statement() {
  if (Take('}')) return open_.pop_back();
  if (Take('{')) return Open({});
  if (IsWord("subgraph")) {
    Advance();
    std::string name;
    if (token_.kind == DotTokenKind::kWord) name = TakeText();
    if (Take('{')) Open(std::move(name));
    return;
  }
  if (IsWord("graph") || IsWord("node") || IsWord("edge")) {
    Advance();
    return PassOver();
  }
  if (token_.kind != DotTokenKind::kWord) return Advance();  // ; and the unexpected
  NodeOrEdges();
}

// [a=b, c=d …]…: what is said twice counts as said last.
void DotParser::Attributes(DotAttributes* out) {
  while (Take('[')) {
    while (token_.kind != DotTokenKind::kEnd && !Is(']')) {
      if (token_.kind != DotTokenKind::kWord) {
        Advance();
        continue;
      }
      const std::string key = TakeText();
      if (!Take('=') || token_.kind != DotTokenKind::kWord) continue;
      std::string value = TakeText();
      if (value.empty()) continue;
      if (key == "label") out->label = std::move(value);
      if (key == "shape") out->shape = std::move(value);
      if (key == "style") out->style = std::move(value);
    }
    Take(']');
  }
}

uint32_t DotParser::NodeNamed(const std::string& name, bool declared) {
  const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(out_.nodes.size()));
  if (added) out_.nodes.push_back({name, {}, open_.back(), declared});
  DotNode& node = out_.nodes[at->second];
  if (declared && !node.declared) {
    node.declared = true;
    node.cluster = open_.back();
  }
  return at->second;
}

void DotParser::NodeOrEdges() {
  const std::string first = TakeText();
  if (Take('=')) {
    if (token_.kind != DotTokenKind::kWord) return;
    std::string value = TakeText();
    if (first == "label") out_.clusters[open_.back()].label = std::move(value);
    return;
  }
  while (Take(':')) {  // a port
    if (token_.kind == DotTokenKind::kWord) Advance();
  }
  if (token_.kind != DotTokenKind::kArrow) {
    const uint32_t node = NodeNamed(first, true);
    return Attributes(&out_.nodes[node].attributes);
  }
  uint32_t from = NodeNamed(first, false);
  while (token_.kind == DotTokenKind::kArrow) {
    Advance();
    if (token_.kind != DotTokenKind::kWord || IsWord("subgraph")) break;
    const uint32_t to = NodeNamed(TakeText(), false);
    while (Take(':')) {
      if (token_.kind == DotTokenKind::kWord) Advance();
    }
    out_.edges.emplace_back(from, to);
    from = to;
  }
  PassOver();
}

}  // namespace

Result<DotGraph> ParseDot(std::string_view text) { return DotParser(text).Run(); }

}  // namespace graphkit
