#include "libgraphkit/analysis/names/naming.h"

#include <cstdio>
#include <iterator>

#include "libgraphkit/model/names.h"
#include "libgraphkit/model/node_versions.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

// A kernel's name without its arguments, template arguments and namespaces.
std::string ShortKernelName(std::string_view mangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::optional<std::string> demangled = DemangledName(mangled);
  std::string name = demangled.value_or(std::string(mangled));
  if (demangled && name.starts_with("void ")) name.erase(0, 5);
  for (size_t at = 0; (at = name.find(kAnonymous)) != name.npos;) name.erase(at, kAnonymous.size());
  name.resize(std::min(name.find_first_of("(<"), name.size()));
  if (const size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  return name;
}

std::string WithName(const Trace& trace, std::string text, StringId name) {
  // A name that says no more isn't repeated.
  if (trace[name].empty() || trace[name] == text) return text;
  return text + " '" + std::string(trace[name]) + "'";
}

// "a, b and c", cut after a few.
std::string Join(const std::vector<std::string>& names, size_t total) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size() && names.size() == total;
    if (i > 0) text += last ? " and " : ", ";
    text += names[i];
  }
  if (total > names.size()) text += " and " + std::to_string(total - names.size()) + " more";
  return text;
}

constexpr size_t kNamed = 4;

std::string_view PeerWord(CollectiveKind kind) {
  if (kind == CollectiveKind::kSend) return "to";
  return kind == CollectiveKind::kReceive ? "from" : "root";
}

std::string WithCollectives(const Trace& trace, std::string name, Seq seq) {
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

std::string CollectivesText(const Trace& trace, Seq seq) {
  const std::span<const Collective> all = RowsAt(trace.collectives, seq);
  if (all.empty()) return "";
  const Collective& first = all.front();
  std::string text = all.size() == 1 ? "" : std::string(NameOf(first.kind)) + " ";
  text += "count " + std::to_string(first.count) + ", ";
  text += NameOf(first.type);
  if (first.peer >= 0)
    text += ", " + std::string(PeerWord(first.kind)) + " " + std::to_string(first.peer);
  text += ", communicator " + std::to_string(first.communicator.value) + " of " +
          Count(trace[first.communicator].ranks, "rank");
  if (all.size() > 1) text += " and " + std::to_string(all.size() - 1) + " more";
  return text;
}

std::string NameOf(const Trace& trace, GraphId graph) {
  return WithName(trace, "graph " + std::to_string(graph.value), trace[graph].name);
}

std::string NameOf(const Trace& trace, KernelId kernel) {
  return ShortKernelName(trace[trace[kernel].name]);
}

std::string NameOf(const Trace& trace, const EagerWork& work) {
  if (work.kind == NodeKind::kKernel && work.kernel.index() < trace.kernels.size()) {
    return WithCollectives(trace, ShortKernelName(trace[trace[work.kernel].name]), work.seq);
  }
  return std::string("a ") + NodeKindName(work.kind);
}

std::string NameOf(const Trace& trace, NodeId id) {
  const Node& node = trace[id];
  std::string what = NodeKindName(node.kind);
  if (node.kind == NodeKind::kKernel && node.kernel.index() < trace.kernels.size()) {
    what = WithCollectives(trace, ShortKernelName(trace[trace[node.kernel].name]), node.seq);
  }
  for (const NodeLabel& label : RowsAt(trace.node_labels, node.seq))
    what += ", " + std::string(trace[label.text]);
  return "node " + std::to_string(id.value) + " (" + what + ")";
}

std::string NameOf(const Trace& trace, StreamId stream) {
  if (!stream.valid()) return "no stream";
  return WithName(trace, "stream " + std::to_string(stream.value), trace[stream].name);
}

std::string NameOf(const Trace& trace, ThreadId thread) {
  if (thread.index() >= trace.threads.size()) return "a thread";
  return WithName(trace, "thread " + std::to_string(thread.value),
                  trace.threads[thread.index()].name);
}

std::string NameOf(const Trace& trace, BlockId block) {
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

std::string CapturedOn(const Trace& trace, NodeId node) {
  const StreamId stream = trace[node].stream;
  if (stream.valid()) return NameOf(trace, node) + " was captured on " + NameOf(trace, stream);
  return NameOf(trace, node) + " was added to " + NameOf(trace, trace[node].graph);
}

std::string ListOf(std::span<const BlockId> blocks) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(blocks.size(), kNamed); ++i) {
    names.push_back(std::to_string(blocks[i].value));
  }
  return (blocks.size() == 1 ? "block " : "blocks ") + Join(names, blocks.size());
}

std::string ListOf(std::vector<std::string> texts) {
  const size_t total = texts.size();
  texts.resize(std::min(total, 2 * kNamed));
  return Join(texts, total);
}

std::string ListOf(const Trace& trace, std::span<const StreamId> streams) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(streams.size(), kNamed); ++i) {
    names.push_back(NameOf(trace, streams[i]));
  }
  return Join(names, streams.size());
}

std::string Count(uint64_t count, const char* thing) {
  return FormatCount(count) + " " + thing + (count == 1 ? "" : "s");
}

CapturePlaces::CapturePlaces(const Trace& trace) : trace_(trace) {
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

KernelSet::KernelSet(const Trace& trace, bool (*says)(std::string_view name)) {
  for (const Kernel& kernel : trace.kernels) kernels_.push_back(says(trace[kernel.name]));
}

bool AlwaysRuns(const Trace& trace, NodeId node, const KernelSet& kernels) {
  if (!kernels.Has(trace[node].kernel)) return false;
  const ChangedNode* changed = FindChanged(trace, node);
  return changed == nullptr || !changed->kernels_vary;
}

KernelSet CommunicationKernels(const Trace& trace) {
  return {trace, [](std::string_view name) {
            if (name.starts_with("nccl")) return true;  // a call of the software device's NCCL
            constexpr std::string_view kKnown[] = {"ncclDevKernel", "ncclKernel", "ncclSymk",
                                                   "nvshmem"};
            return std::ranges::any_of(kKnown, [&](std::string_view known) {
              return name.find(known) != std::string_view::npos;
            });
          }};
}

Bytes CopiedBytes(const Trace& trace, Slice accesses) {
  Bytes bytes = 0;
  for (const Access& access : trace.accesses.Of(accesses)) {
    if (access.length != kLengthUnknown) bytes = std::max(bytes, access.length);
  }
  return bytes;
}

bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses) {
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

}  // namespace graphkit
