#include "libgraphkit/io/import/dot_graph.h"

#include <algorithm>
#include <unordered_map>

#include "libgraphkit/io/import/file_format.h"

namespace graphkit {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || (static_cast<unsigned char>(c) & 0x80u);
}

// The language: graphviz.org/doc/info/lang.html.
class DotParser {
 public:
  explicit DotParser(std::string_view text) : text_(text) { Advance(); }

  bool BeginsDigraph() {
    if (kind_ == Kind::kWord && word_ == "strict") Advance();
    return IsKeyword("digraph");
  }

  Result<DotGraph> Run() {
    while (IsKeyword("strict") || IsKeyword("digraph") || IsKeyword("graph")) Advance();
    if (kind_ == Kind::kWord) Advance();
    if (!Take('{')) {
      return Error{.message = "not a DOT graph: no '{' after 'digraph'", .line = Line()};
    }
    Open({});
    while (kind_ != Kind::kEnd && !open_.empty()) Statement();
    if (open_.empty()) return std::move(out_);
    return Error{.message = "the DOT text ends in the middle",
                 .hint = "the file was cut off: write it again",
                 .line = Line(),
                 .kind = Error::Kind::kIncomplete};
  }

 private:
  enum class Kind : uint8_t {
    kWord,    // an identifier or a number
    kString,  // \" is ", other escapes stay as they are
    kArrow,   // -> or --
    kCharacter,
    kEnd,
  };

  // Reading words.
  bool Sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  // Behind the next `what`, or at the end.
  void SkipBehind(std::string_view what) {
    const size_t found = text_.find(what, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + what.size();
  }

  // Comments and lines of a preprocessor, too.
  void SkipSpaces() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size());
      const bool line_begins = at_ == 0 || text_[at_ - 1] == '\n';
      if (Sees("//") || (Sees("#") && line_begins)) {
        SkipBehind("\n");
      } else if (Sees("/*")) {
        at_ += 2;
        SkipBehind("*/");
      } else {
        return;
      }
    }
  }

  void String() {
    kind_ = Kind::kString;
    while (++at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[++at_] != '"') word_ += '\\';
      word_ += text_[at_];
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  // <…>, with the brackets inside in pairs.
  void Html() {
    kind_ = Kind::kString;
    int depth = 0;
    do {
      depth += text_[at_] == '<' ? 1 : text_[at_] == '>' ? -1 : 0;
      word_ += text_[at_++];
    } while (at_ < text_.size() && depth > 0);
  }

  void Advance() {
    SkipSpaces();
    word_.clear();
    if (at_ == text_.size()) {
      kind_ = Kind::kEnd;
    } else if (Sees("\"")) {
      String();
    } else if (Sees("<")) {
      Html();
    } else if (Sees("->") || Sees("--")) {
      kind_ = Kind::kArrow;
      at_ += 2;
    } else {
      const bool negative = Sees("-") && at_ + 1 < text_.size() && IsWordCharacter(text_[at_ + 1]);
      kind_ = negative || IsWordCharacter(text_[at_]) ? Kind::kWord : Kind::kCharacter;
      do {
        word_ += text_[at_++];
      } while (kind_ == Kind::kWord && at_ < text_.size() && IsWordCharacter(text_[at_]));
    }
  }

  uint64_t Line() const {
    return 1 + static_cast<uint64_t>(std::ranges::count(text_.substr(0, at_), '\n'));
  }

  // Reading statements.
  bool IsText() const { return kind_ == Kind::kWord || kind_ == Kind::kString; }
  bool IsKeyword(std::string_view word) const { return kind_ == Kind::kWord && word_ == word; }
  bool Is(char c) const { return kind_ == Kind::kCharacter && word_[0] == c; }
  bool Take(char c) {
    if (!Is(c)) return false;
    Advance();
    return true;
  }
  std::string TakeText() {
    std::string text = std::move(word_);
    Advance();
    return text;
  }
  void SkipPort() {
    while (Take(':')) {
      if (IsText()) Advance();
    }
  }
  void Open(std::string name) {
    open_.push_back(static_cast<uint32_t>(out_.clusters.size()));
    out_.clusters.push_back({std::move(name), {}});
  }

  void Statement() {
    if (Take('}')) return open_.pop_back();
    if (Take('{')) return Open({});
    if (IsKeyword("subgraph")) {
      Advance();
      std::string name;
      if (IsText()) name = TakeText();
      if (Take('{')) Open(std::move(name));
    } else if (IsKeyword("graph") || IsKeyword("node") || IsKeyword("edge")) {
      Advance();
      Attributes({});
    } else if (IsText()) {
      NodeOrEdges();
    } else {
      Advance();  // ; and the unexpected
    }
  }

  void NodeOrEdges() {
    const std::string first = TakeText();
    if (Take('=')) {
      if (!IsText()) return;
      std::string value = TakeText();
      if (first == "label") out_.clusters[open_.back()].label = std::move(value);
      return;
    }
    SkipPort();
    if (kind_ != Kind::kArrow) {
      DotNode& node = out_.nodes[NodeNamed(first, true)];
      node.attributes = Attributes(std::move(node.attributes));
      return;
    }
    uint32_t from = NodeNamed(first, false);
    while (kind_ == Kind::kArrow) {
      Advance();
      if (!IsText() || IsKeyword("subgraph")) break;
      const uint32_t to = NodeNamed(TakeText(), false);
      SkipPort();
      out_.edges.emplace_back(from, to);
      from = to;
    }
    Attributes({});
  }

  // `out` with [a=b, c=d …]…: what is said twice counts as said last.
  DotAttributes Attributes(DotAttributes out) {
    while (Take('[')) {
      while (kind_ != Kind::kEnd && !Is(']')) {
        if (!IsText()) {
          Advance();
          continue;
        }
        const std::string key = TakeText();
        if (!Take('=') || !IsText()) continue;
        const std::string value = TakeText();
        if (value.empty()) continue;
        if (key == "label") out.label = value;
        if (key == "shape") out.shape = value;
        if (key == "style") out.style = value;
      }
      Take(']');
    }
    return out;
  }

  uint32_t NodeNamed(const std::string& name, bool declared) {
    const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(out_.nodes.size()));
    if (added) out_.nodes.push_back({name, {}, open_.back(), declared});
    DotNode& node = out_.nodes[at->second];
    if (declared && !node.declared) {
      node.declared = true;
      node.cluster = open_.back();
    }
    return at->second;
  }

  std::string_view text_;
  size_t at_ = 0;
  Kind kind_ = Kind::kEnd;  // of what was read last, up to at_
  std::string word_;
  DotGraph out_;
  std::vector<uint32_t> open_;  // clusters
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace

Result<DotGraph> ParseDot(std::string_view text) { return DotParser(text).Run(); }

bool IsDot(std::string_view head) { return DotParser(head).BeginsDigraph(); }

}  // namespace graphkit
