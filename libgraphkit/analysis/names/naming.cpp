#include "libgraphkit/analysis/names/naming.h"

#include <array>
#include <cstdio>
#include <functional>
#include <iterator>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

// A kernel's name without its arguments, template arguments and namespaces.
std::string ShortKernelName(std::string_view mangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::optional<std::string> demangled = DemangledName(mangled);
  const auto cut = [](char c) { return c == '(' || c == '<' || c == ':'; };
  if (!demangled && std::ranges::none_of(mangled, cut)) return std::string(mangled);
  std::string name = demangled.value_or(std::string(mangled));
  if (demangled && name.starts_with("void ")) name.erase(0, 5);
  for (size_t at = 0; (at = name.find(kAnonymous)) != name.npos;) name.erase(at, kAnonymous.size());
  name.resize(std::min(name.find_first_of("(<"), name.size()));
  if (const size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  return name;
}

std::string WithName(const Ran& trace, std::string text, StringId name) {
  // A name that says no more isn't repeated.
  if (trace[name].empty() || trace[name] == text) return text;
  return text + " '" + std::string(trace[name]) + "'";
}

// "a, b and c", cut after so many.
std::string Join(const auto& items, size_t most, const auto& text_of) {
  std::string text;
  for (size_t i = 0; i < std::min(most, items.size()); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += text_of(items[i]);
  }
  if (items.size() > most) text += " and " + std::to_string(items.size() - most) + " more";
  return text;
}

constexpr size_t kNamed = 4;

std::string_view PeerWord(CollectiveKind kind) {
  if (kind == CollectiveKind::kSend) return "to";
  return kind == CollectiveKind::kReceive ? "from" : "root";
}

std::string WithCollectives(const Ran& trace, std::string name, Seq seq) {
  const std::string text = CollectivesText(trace, seq);
  return text.empty() ? name : name + "(" + text + ")";
}

constexpr std::string_view kNumbers[] = {
    "",      "bool",           "char",      "signed char",        "unsigned char",
    "short", "unsigned short", "int",       "unsigned int",       "long",
    "float", "unsigned long",  "long long", "unsigned long long", "double"};

bool IsNumber(std::string_view type) {
  return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
}

// True if a C++ name's parameters are all such.
bool AllParametersAre(bool (*such)(std::string_view type), std::string_view mangled) {
  const std::optional<std::string> name = DemangledName(mangled);
  if (!name) return false;
  std::string_view types = *name;
  const size_t open = types.rfind('(');
  if (open == std::string_view::npos || !types.ends_with(")")) return false;
  types = types.substr(open + 1, types.size() - open - 2);
  while (!types.empty()) {
    const size_t comma = std::min(types.find(", "), types.size());
    if (!such(types.substr(0, comma))) return false;
    types.remove_prefix(std::min(comma + 2, types.size()));
  }
  return true;
}

bool IsPlain(std::string_view type) {
  return IsNumber(type) || (type.ends_with('*') && !type.ends_with("**"));
}

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

std::string FrameTitle(const Ran& trace, uint32_t frame) {
  std::string title = Printable(PlaceOfFrame(trace, frame));
  const std::string_view function = trace[trace.stack_frames[frame].function];
  if (function.empty()) return title;
  return title + (title.empty() ? "" : " ") + ShortName(Demangle(function), 60);
}

}  // namespace

std::string FillIn(std::string_view sentence, std::initializer_list<std::string> things) {
  std::string text;
  for (const std::string& thing : things) {
    const size_t at = sentence.find("{}");
    text.append(sentence.substr(0, at)).append(thing);
    sentence.remove_prefix(at + 2);
  }
  return text.append(sentence);
}

std::string CollectivesText(const Ran& trace, Seq seq) {
  const std::span<const Collective> all = RowsAt(trace.collectives, seq);
  if (all.empty()) return "";
  const Collective& first = all.front();
  std::string text = all.size() == 1 ? "" : std::string(NameOf(first.kind)) + " ";
  text += "count " + std::to_string(first.count) + ", ";
  text += NameOf(first.type);
  if (first.peer >= 0)
    text += ", " + std::string(PeerWord(first.kind)) + " " + std::to_string(first.peer);
  text += ", communicator " + std::to_string(first.communicator.value) + " of " +
          Counted(trace[first.communicator].ranks, "rank");
  if (all.size() > 1) text += " and " + std::to_string(all.size() - 1) + " more";
  return text;
}

std::string NameOf(const Ran& trace, GraphId graph) {
  return WithName(trace, "graph " + std::to_string(graph.value), trace[graph].name);
}

std::string NameOf(const Ran& trace, KernelId kernel) {
  return ShortKernelName(trace[trace[kernel].name]);
}

std::string NameOf(const Ran& trace, const EagerWork& work) {
  if (work.kind == NodeKind::kKernel && work.kernel.index() < trace.kernels.size()) {
    return WithCollectives(trace, ShortKernelName(trace[trace[work.kernel].name]), work.seq);
  }
  return std::string("a ") + NodeKindName(work.kind);
}

std::string NameOf(const Ran& trace, NodeId id) {
  const Node& node = trace[id];
  std::string what = NodeKindName(node.kind);
  if (node.kind == NodeKind::kKernel && node.kernel.index() < trace.kernels.size()) {
    what = WithCollectives(trace, ShortKernelName(trace[trace[node.kernel].name]), node.seq);
  }
  for (const NodeLabel& label : RowsAt(trace.node_labels, node.seq))
    what += ", " + std::string(trace[label.text]);
  return "node " + std::to_string(id.value) + " (" + what + ")";
}

std::string NameOf(const Ran& trace, StreamId stream) {
  if (!stream.valid()) return "no stream";
  const bool legacy = trace[stream].kind == StreamKind::kLegacyDefault;
  return (legacy ? "the " : "") +
         WithName(trace, StreamBase(trace[stream], stream), trace[stream].name);
}

std::string NameOf(const Ran& trace, ThreadId thread) {
  if (thread.index() >= trace.threads.size()) return "a thread";
  return WithName(trace, "thread " + std::to_string(thread.value),
                  trace.threads[thread.index()].name);
}

std::string NameOf(const Ran& trace, BlockId block) {
  return "block " + std::to_string(block.value) + " (" + FormatBytes(trace[block].size) + ")";
}

std::string EarlyStartText(const EarlyStart& start, const std::string& producer,
                           const std::string& consumer) {
  static constexpr const char* kTriggers[] = {" isn't known to trigger", " never triggers",
                                              " triggers on some ways", " triggers"};
  static constexpr const char* kWrites[] = {"", " after its last write",
                                            ", and may write after that"};
  static constexpr const char* kWaits[] = {" isn't known to wait", " never waits", " waits"};
  std::string text = producer;
  if (start.from_port == kPortLaunchCompletion) {
    text += " lets it start once all blocks have begun";
  } else {
    text += kTriggers[static_cast<size_t>(start.triggers)];
    text += kWrites[static_cast<size_t>(start.writes_after_trigger)];
  }
  return text + "; " + consumer + kWaits[static_cast<size_t>(start.waits)];
}

std::string HexText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string SizesText(const uint32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

std::string CapturedOn(const Ran& trace, NodeId node) {
  const StreamId stream = trace[node].stream;
  if (stream.valid()) return NameOf(trace, node) + " was captured on " + NameOf(trace, stream);
  return NameOf(trace, node) + " was added to " + NameOf(trace, trace[node].graph);
}

std::string ListOf(std::span<const BlockId> blocks) {
  const auto number = [](BlockId block) { return std::to_string(block.value); };
  return (blocks.size() == 1 ? "block " : "blocks ") + Join(blocks, kNamed, number);
}

std::string ListOf(const std::vector<std::string>& texts) {
  return Join(texts, 2 * kNamed, std::identity());
}

std::string ListOf(const Ran& trace, std::span<const StreamId> streams) {
  return Join(streams, kNamed, [&](StreamId stream) { return NameOf(trace, stream); });
}

CapturePlaces::CapturePlaces(const Ran& trace) : trace_(trace) {
  for (const Capture& capture : trace.captures) {
    if (!capture.graph.valid()) continue;
    begun_.push_back({capture.begin, capture.end, capture.graph, capture.graph});
  }
  std::ranges::stable_sort(begun_, {}, &Begun::begin);
  for (size_t i = 1; i < begun_.size(); ++i) {
    if (begun_[i].last_end > begun_[i - 1].last_end) continue;
    begun_[i].last_end = begun_[i - 1].last_end;
    begun_[i].last = begun_[i - 1].last;
  }
}

// Of several captures that are open the first that began.
std::string CapturePlaces::Of(Seq seq) const {
  const auto end = std::ranges::upper_bound(begun_, seq, {}, &Begun::begin);
  const auto open = std::partition_point(
      begun_.begin(), end, [&](const Begun& capture) { return capture.last_end <= seq; });
  if (open != end) return "in the capture of " + NameOf(trace_, open->graph);
  if (end != begun_.begin()) return "after the capture of " + NameOf(trace_, std::prev(end)->last);
  return trace_.captures.empty() ? "outside captures" : "before the first capture";
}

bool TakesNumbersOnly(std::string_view mangled) { return AllParametersAre(IsNumber, mangled); }

bool TakesPlainPointers(std::string_view mangled) { return AllParametersAre(IsPlain, mangled); }

KernelSet::KernelSet(const Ran& trace, bool (*says)(std::string_view name)) {
  for (const Kernel& kernel : trace.kernels) kernels_.push_back(says(trace[kernel.name]));
}

bool AlwaysRuns(const Ran& trace, NodeId node, const KernelSet& kernels) {
  if (!kernels.Has(trace[node].kernel)) return false;
  const ChangedNode* changed = FindChanged(trace, node);
  return changed == nullptr || !changed->kernels_vary;
}

KernelSet CommunicationKernels(const Ran& trace) {
  return {trace, [](std::string_view name) {
            if (name.starts_with("nccl")) return true;  // a call of the software device's NCCL
            constexpr std::string_view kKnown[] = {"ncclDevKernel", "ncclKernel", "ncclSymk",
                                                   "nvshmem"};
            return std::ranges::any_of(kKnown, [&](std::string_view known) {
              return name.find(known) != std::string_view::npos;
            });
          }};
}

Bytes CopiedBytes(const Ran& trace, Slice accesses) {
  Bytes bytes = 0;
  for (const Access& access : trace.accesses.Of(accesses)) {
    if (access.length != kLengthUnknown) bytes = std::max(bytes, access.length);
  }
  return bytes;
}

bool CopiesOut(const Ran& trace, NodeKind kind, Slice accesses) {
  if (kind != NodeKind::kMemcpy) return false;
  bool reads = false;
  for (const Access& access : trace.accesses.Of(accesses)) {
    if (access.mode == AccessMode::kRead) {
      reads = true;
      continue;
    }
    if (KindOf(trace, trace[access.block].pool) != PoolKind::kHost) return false;
  }
  return reads;
}

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

std::string NodeTitle(const Ran& trace, NodeId id, size_t columns) {
  const Node& node = trace[id];
  if (node.kind != NodeKind::kKernel || !node.kernel) return NodeKindName(node.kind);
  const std::string name = Demangle(trace[trace[node.kernel].name]);
  return name.empty() ? "kernel" : ShortName(name, columns);
}

std::string DeviceTitle(DeviceKind device, std::string_view name) {
  if (device == DeviceKind::kSoft) return "recorded on the software device (simulated)";
  if (device == DeviceKind::kImported) return "imported from another tool's file";
  return "recorded on " + (name.empty() ? "a CUDA device" : Printable(name));
}

void AddMissingEdgeData(const Process& process, std::vector<std::string>& notes) {
  const int version = process.driver_version;
  if (version == 0 || version >= kEdgeDataSince) return;
  notes.push_back("edge data not available (CUDA " + std::to_string(version / 1000) + "." +
                  std::to_string(version % 1000 / 10) + ")");
}

std::string StreamTitle(const Ran& trace, StreamId id) {
  if (!id) return "no stream";
  const Stream& stream = trace[id];
  return Named(StreamBase(stream, id), trace[stream.name]);
}

std::string GraphTitle(const Ran& trace, GraphId id) {
  return id ? GraphTitle(id, trace[trace[id].name]) : "no graph";
}

std::string GraphTitle(GraphId id, std::string_view name) {
  return Named("graph " + std::to_string(id.value), name);
}

std::string PoolTitle(const Ran& trace, PoolId id) {
  static constexpr std::array<const char*, 7> kKinds = {
      "device", "stream-ordered", "graph", "allocator", "private", "pinned host", "managed"};
  if (!id) return "no pool";
  const Pool& pool = trace[id];
  const std::string name = Printable(trace[pool.name]);
  return "pool " + std::to_string(id.value) + " (" + kKinds[static_cast<size_t>(pool.kind)] +
         (name.empty() ? "" : ", " + name) + ")";
}

std::string StackTitle(const Ran& trace, StackId id) {
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

StackId StackOf(const Finding& finding, const Ran& trace) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.stack) return evidence.stack;
  }
  for (const BlockId block : finding.blocks) {
    if (trace[block].stack) return trace[block].stack;
  }
  for (const NodeId node : finding.nodes) {
    if (trace[node].stack) return trace[node].stack;
  }
  return {};
}

std::string MissingLine(const Finding& finding, const Ran& trace) {
  if (trace.process.device == DeviceKind::kImported) return "";
  if (trace.stacks.empty()) {
    if (finding.nodes.empty() && finding.blocks.empty()) return "";
    return "no source lines: recorded without call stacks; trace it again without --no-stacks";
  }
  const std::optional<uint32_t> own = CallSiteOf(trace, StackOf(finding, trace)).own;
  if (!own || trace.stack_frames[*own].line != 0) return "";
  const std::string_view file = trace[trace.stack_frames[*own].file];
  return "no source lines in " + Printable(file.substr(file.rfind('/') + 1)) +
         ": compile it with -g";
}

}  // namespace graphkit
