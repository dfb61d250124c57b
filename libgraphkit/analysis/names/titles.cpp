#include "libgraphkit/analysis/names/titles.h"

#include <algorithm>
#include <array>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

constexpr size_t kLongestMangled = 64 * 1024;  // longer ones are shown as they are

// Replaces what stands in <…> and drops "(anonymous namespace)::". `operator<`, `operator->` and
// their like keep their characters, and so do Python's <module> and <lambda>.
std::string CollapseTemplates(std::string_view name) {
  if (name.starts_with('<')) return std::string(name);
  static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  static constexpr std::string_view kOperator = "operator";
  std::string out;
  size_t depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    const bool is_operator = depth == 0 && out.ends_with(kOperator);
    if (is_operator && (name[i] == '<' || name[i] == '>' || name[i] == '-')) {
      while (i < name.size() && std::string_view("<>=-").find(name[i]) != std::string_view::npos) {
        out += name[i++];
      }
      --i;
    } else if (name[i] == '<') {
      if (depth++ == 0) out += "<…>";
    } else if (name[i] == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out += name[i];
    }
  }
  return out;
}

// Cuts the parameters off: the last top-level (…), and what follows it ("const").
std::string_view WithoutParameters(std::string_view name) {
  const size_t close = name.rfind(')');
  if (close == std::string_view::npos) return name;
  size_t depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) {
      const std::string_view rest = name.substr(0, i);
      return rest.empty() || rest.ends_with("operator") ? name : rest;
    }
  }
  return name;
}

// Cuts the return type off: all up to the last space outside brackets, or before "operator".
std::string_view WithoutReturnType(std::string_view name) {
  size_t depth = 0;
  for (size_t i = std::min(name.rfind("operator"), name.size()); i-- > 0;) {
    if (name[i] == ')' || name[i] == '}' || name[i] == ']') ++depth;
    if ((name[i] == '(' || name[i] == '{' || name[i] == '[') && depth > 0) --depth;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

// "legacy default stream", "stream 3".
std::string StreamBase(const Stream& stream, StreamId id) {
  if (stream.kind == StreamKind::kLegacyDefault) return "legacy default stream";
  if (stream.kind == StreamKind::kPerThreadDefault) {
    return "per-thread default stream " + std::to_string(id.value);
  }
  return "stream " + std::to_string(id.value);
}

std::string Quoted(std::string_view name) {
  return name.empty() ? "" : " \"" + Ellipsize(Printable(name), 48) + "\"";
}

// A name that says no more than the title isn't repeated.
std::string Named(const std::string& title, std::string_view name) {
  return name == title ? title : title + Quoted(name);
}

std::string FrameTitle(const Trace& trace, uint32_t frame) {
  std::string title = Printable(PlaceOfFrame(trace, frame));
  const std::string_view function = trace[trace.stack_frames[frame].function];
  if (function.empty()) return title;
  return title + (title.empty() ? "" : " ") + ShortName(Demangle(function), 60);
}

}  // namespace

std::string Demangle(std::string_view name) {
  if (name.size() > kLongestMangled) return Printable(name);
  return Printable(DemangledName(name).value_or(std::string(name)));
}

std::string ShortName(std::string_view demangled, size_t columns) {
  const std::string collapsed = CollapseTemplates(demangled);
  std::string_view name = WithoutReturnType(WithoutParameters(collapsed));
  while (DisplayWidth(name) > columns) {
    const size_t scope = name.find("::");
    if (scope == std::string_view::npos) break;
    name.remove_prefix(scope + 2);
  }
  return Ellipsize(name, columns);
}

std::string NodeTitle(const Trace& trace, NodeId id, size_t columns) {
  const Node& node = trace[id];
  if (node.kind != NodeKind::kKernel || !node.kernel) return NodeKindName(node.kind);
  const std::string name = Demangle(trace[trace[node.kernel].name]);
  return name.empty() ? "kernel" : ShortName(name, columns);
}

std::string DeviceTitle(DeviceKind device, std::string_view name) {
  switch (device) {
    case DeviceKind::kSoft:
      return "recorded on the software device (simulated)";
    case DeviceKind::kCuda:
      return "recorded on " + (name.empty() ? "a CUDA device" : Printable(name));
    case DeviceKind::kImported:
      break;
  }
  return "imported from another tool's file";
}

void AddMissingEdgeData(const Process& process, std::vector<std::string>& notes) {
  const int version = process.driver_version;
  if (version == 0 || version >= kEdgeDataSince) return;
  notes.push_back("edge data not available (CUDA " + std::to_string(version / 1000) + "." +
                  std::to_string(version % 1000 / 10) + ")");
}

std::string StreamTitle(const Trace& trace, StreamId id) {
  if (!id) return "no stream";
  const Stream& stream = trace[id];
  return Named(StreamBase(stream, id), trace[stream.name]);
}

std::string GraphTitle(const Trace& trace, GraphId id) {
  return id ? GraphTitle(id, trace[trace[id].name]) : "no graph";
}

std::string GraphTitle(GraphId id, std::string_view name) {
  return Named("graph " + std::to_string(id.value), name);
}

std::string PoolTitle(const Trace& trace, PoolId id) {
  static constexpr std::array<const char*, 7> kKinds = {
      "device", "stream-ordered", "graph", "allocator", "private", "pinned host", "managed"};
  if (!id) return "no pool";
  const Pool& pool = trace[id];
  const std::string name = Printable(trace[pool.name]);
  return "pool " + std::to_string(id.value) + " (" + kKinds[static_cast<size_t>(pool.kind)] +
         (name.empty() ? "" : ", " + name) + ")";
}

std::string StackTitle(const Trace& trace, StackId id) {
  if (HasTorchFrames(trace, id) || !LibraryMemory(trace, id).empty())
    return Printable(MemoryTitle(trace, id));
  CallSite site = CallSiteOf(trace, id);
  // A framework's line says more than PyTorch's below it, or than code that torch.compile made.
  const std::optional<uint32_t> line = site.inner ? NameOfStack(trace, id).frame : std::nullopt;
  if (line && EndOfPackages(trace[trace.stack_frames[*line].file]) != 0) site.inner = line;
  std::string title = site.own ? FrameTitle(trace, *site.own) : "";
  if (!site.inner) return title;
  return title + (title.empty() ? "" : ", in ") + FrameTitle(trace, *site.inner);
}

}  // namespace graphkit
