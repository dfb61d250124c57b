#include "libgraphkit/render/dot/link.h"

#include <array>

#include "libgraphkit/analysis/call_site.h"

namespace graphkit {

namespace {

std::string PercentEncoded(std::string_view text) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

// Where the program's own code stands, else the innermost frame whose line is known; null: none.
const StackFrame* SourceOf(const Trace& trace, NodeId node) {
  const StackId stack = trace[node].stack;
  if (!stack) return nullptr;
  const CallSite site = CallSiteOf(trace, stack);
  if (site.own && trace.stack_frames[*site.own].line != 0) return &trace.stack_frames[*site.own];
  const Slice frames = trace.stacks[stack.index()].frames;
  for (uint32_t i = 0; i < frames.count; ++i) {
    const StackFrame& frame = trace.stack_frames[frames.first + i];
    if (frame.line != 0) return &frame;
  }
  return nullptr;
}

void Replace(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

// What the user wrote goes into attributes of SVG as it is: Graphviz escapes no URL.
std::string ForAttribute(std::string_view url) {
  std::string escaped;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special =
        byte <= 0x20 || byte >= 0x7f || c == '"' || c == '\'' || c == '<' || c == '>';
    if (c == '&') {
      escaped += "&amp;";
    } else if (special) {
      escaped += PercentEncoded(std::string_view(&c, 1));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string NodeLink(std::string_view link, const Trace& trace, NodeId node) {
  std::string url(link);
  const StackFrame* source = SourceOf(trace, node);
  if (source == nullptr && url.find("{file}") != std::string::npos) return "";
  Replace(url, "{node}", std::to_string(node.value));
  Replace(url, "{line}", source == nullptr ? "" : std::to_string(source->line));
  if (source != nullptr) Replace(url, "{file}", PercentEncoded(trace[source->file]));
  return ForAttribute(url);
}

}  // namespace graphkit
