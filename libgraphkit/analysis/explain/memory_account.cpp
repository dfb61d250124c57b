#include "libgraphkit/analysis/explain/memory_account.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/names/torch_options.h"
#include "libgraphkit/model/caching_config.h"

namespace graphkit {
namespace {

using Key = std::tuple<HeldGroup::Kind, std::string, PoolId>;

struct Building {
  HeldGroup group;
  Bytes largest = 0;
  std::map<std::string, Bytes> operations;
};

HeldGroup::Kind KindOf(const Ran& trace, const Block& block, const StackName& name, Seq first_event,
                       bool any_is_named) {
  if (trace.stacks.empty()) return HeldGroup::Kind::kPool;
  if (name.frame) return HeldGroup::Kind::kLine;
  if (!name.operation.empty()) return HeldGroup::Kind::kOperation;
  if (block.allocated < first_event) return HeldGroup::Kind::kBeforeRecording;
  return any_is_named ? HeldGroup::Kind::kNoStack : HeldGroup::Kind::kPool;
}

void Take(const Ran& trace, const Block& block, const StackName& name, Building* building) {
  const Bytes bytes = AllocatedSize(block);
  HeldGroup& group = building->group;
  group.bytes += bytes;
  ++group.blocks;
  if (!name.operation.empty()) building->operations[name.operation] += bytes;
  if (bytes <= building->largest) return;
  building->largest = bytes;
  group.stack = block.stack;
  group.role = name.role;
  if (!name.frame) return;
  const StackFrame& frame = trace.stack_frames[*name.frame];
  group.file = trace[frame.file];
  group.function = trace[frame.function];
  group.line = frame.line;
}

HeldGroup Finished(Building building) {
  std::vector<std::string>& operations = building.group.operations;
  for (const auto& [name, bytes] : building.operations) operations.push_back(name);
  std::ranges::stable_sort(operations, std::greater(),
                           [&](const std::string& name) { return building.operations.at(name); });
  return std::move(building.group);
}

const StackName& NameIn(std::span<const StackName> names, const Block& block) {
  static const StackName kNone;
  return block.stack ? names[block.stack.index()] : kNone;
}

// The line that called the outermost module.
std::string CallerOfModel(const Ran& trace, StackId stack) {
  const Slice run = trace.stacks[stack.index()].frames;
  bool called = false;
  std::string caller;
  for (uint32_t i = run.first; i < run.first + run.count; ++i) {
    const StackFrame& frame = trace.stack_frames[i];
    const std::string_view function = trace[frame.function];
    if (!IsPythonFile(trace[frame.file])) continue;
    if (function == "_call_impl" || function == "_wrapped_call_impl") {
      called = true;
      caller.clear();
    } else if (called && caller.empty() && !IsLibraryFrame(function, trace[frame.file])) {
      caller = PlaceOfFrame(trace, i);
    }
  }
  return caller;
}

// The last allocation of a backward; kNever: there is none. A thread of autograd has no Python
// frames: where no other stack says "backward", what has none is taken for its.
Seq LastOfBackward(const Ran& trace, std::span<const StackName> names,
                   const std::vector<DeviceIndex>& devices, DeviceIndex device, Seq first_event) {
  std::optional<Seq> said, without_stack;
  bool has_stacks = false;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (devices[i] != device || block.allocated < first_event) continue;
    has_stacks |= block.stack.valid();
    if (NameIn(names, block).role == MemoryRole::kBackward) said = block.allocated;
    if (!block.stack && block.segment) without_stack = block.allocated;
  }
  return said ? *said : has_stacks ? without_stack.value_or(kNever) : kNever;
}

bool Contains(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool IsOf(const Ran& trace, const StackName& name, OperatorFamily family) {
  static constexpr std::array<std::string_view, 4> kLoss = {"cross_entropy", "log_softmax",
                                                            "nll_loss", "logsumexp"};
  static constexpr std::array<std::string_view, 2> kScores = {"softmax", "baddbmm"};
  std::string_view function;
  if (name.frame) function = trace[trace.stack_frames[*name.frame].function];
  const bool loss = Contains(name.operation, kLoss) || Contains(function, kLoss);
  if (family == OperatorFamily::kLoss) return loss;
  return !loss && (Contains(name.operation, kScores) || Contains(function, kScores));
}

void TakeHistory(const MemoryFacts& facts, const MemoryHistory& history, MemoryAccount* account) {
  const Ran& trace = facts.trace;
  const std::vector<Seq> events = PlacesOfEvents(trace, account->device);
  const auto event_at = [&](Seq seq) {
    return static_cast<uint64_t>(std::ranges::lower_bound(events, seq) - events.begin());
  };
  account->first_event = history.seq;
  account->has_history = !trace.history_events.empty();
  if (account->has_history) account->peak_event = event_at(account->moments.peak_in_use.seq);
  account->python_only = !trace.stack_frames.empty() &&
                         std::ranges::all_of(trace.stack_frames, [&](const StackFrame& frame) {
                           return IsPythonFile(trace[frame.file]);
                         });
  for (const Failure& failed : trace.failures) {
    if (failed.device != account->device || failed.requested == 0) continue;
    account->out_of_memory = {event_at(failed.seq), failed.seq, failed.requested,
                              failed.free_on_device};
  }
  if (account->out_of_memory) {
    account->told = facts.timeline().After(account->device, account->out_of_memory->seq);
  }
}

using Kind = MemoryRemark::Kind;

// A part that a text has only where there is something to say: "2 GiB in 3 empty segments".
std::string In(Bytes bytes, uint64_t count, const char* thing) {
  return FormatBytes(bytes) + " in " + Counted(count, thing);
}

std::string AdviceFor(const Ran& trace, const OutOfMemoryEvent& failed, const IdleMemory& idle) {
  if (failed.free_on_device >= failed.asked) {
    return "the device had enough: a limit refused it, such as that of "
           "torch.cuda.set_per_process_memory_fraction";
  }
  const Bytes shared = idle.bytes() - idle.private_bytes;
  const bool expandable =
      FindSetting(trace.process, "PYTORCH_ALLOC_CONF", "expandable_segments") == "True";
  if (shared + failed.free_on_device >= failed.asked && !expandable) {
    return "the memory is there, in pieces: " +
           SetTorchOption(trace.process, "expandable_segments") + " lets segments grow instead";
  }
  if (idle.bytes() + failed.free_on_device >= failed.asked) {
    return "the memory is there, in pieces, or for other streams and private pools alone: fewer "
           "pools, or less memory at the peak";
  }
  return "the holders above are what has to shrink: a smaller batch, checkpointing, or what is "
         "kept by mistake";
}

MemoryRemark OutOfMemory(const MemoryFacts& facts, const MemoryAccount& account) {
  const OutOfMemoryEvent& failed = *account.out_of_memory;
  const IdleMemory idle = facts.timeline().IdleAfter(account.device, failed.seq);
  MemoryRemark remark{.kind = Kind::kOutOfMemory, .bytes = failed.asked};
  remark.text = "out of memory at event " + FormatCount(failed.event) + ": " +
                FormatBytes(failed.asked) + " asked for, " + FormatBytes(failed.free_on_device) +
                " free on the device, " + FormatBytes(idle.bytes()) +
                " reserved but unused (largest free block " + FormatBytes(idle.largest_bytes) + ")";
  remark.advice = AdviceFor(facts.trace, failed, idle);
  return remark;
}

// That a forward's memory is kept doesn't show why: autograd keeps activations, the program keeps
// outputs and caches.
MemoryRemark ForwardKept(const KeptByForward& kept) {
  MemoryRemark remark{.kind = Kind::kForwardKept, .bytes = kept.bytes};
  const std::string where = kept.caller.empty() ? "" : " (" + kept.caller + ")";
  remark.text = In(kept.bytes, kept.blocks, "block") + " that forwards allocated, " +
                (kept.backward_ran ? "still allocated after the last backward operator"
                                   : "allocated at the end; no backward was recorded");
  remark.advice =
      (kept.backward_ran
           ? "an output that is kept, or a variable such as `loss` that keeps the autograd graph"
           : "activations, if gradients are on: torch.no_grad() keeps none; otherwise outputs, "
             "caches or workspaces that are kept") +
      where;
  return remark;
}

// The files that show no stack for most of the peak. A block from before with a stack: PyTorch
// keeps stacks of earlier recordings, and drops the oldest events of a history that is full.
MemoryRemark BeforeRecording(const MemoryAccount& account, Bytes bytes, Bytes stacked_bytes,
                             uint64_t stacked) {
  MemoryRemark remark{.kind = Kind::kBeforeRecording, .bytes = bytes};
  const auto share = static_cast<double>(bytes) / static_cast<double>(account.told.in_use);
  remark.text = FormatBytes(bytes) + ", " + FormatPercent(share) + " of what was in use " +
                (account.out_of_memory                 ? "when memory ran out"
                 : account.told == account.moments.end ? "at the end"
                                                       : "at the peak") +
                ", was allocated before recording began";
  remark.advice = "call torch.cuda.memory._record_memory_history() before the model is made";
  if (stacked > 0) {
    const Bytes rest = bytes - stacked_bytes;
    remark.text += ": " + (rest > 0 ? FormatBytes(rest) + " without a call stack, and " : "") +
                   In(stacked_bytes, stacked, "block") +
                   " with stacks of an earlier recording, or whose events were lost";
    remark.advice += ", with a larger max_entries if events were lost";
  }
  return remark;
}

void AddBeforeRecording(const Ran& trace, const MemoryAccount& account,
                        std::span<const BlockId> blocks, std::vector<MemoryRemark>* remarks) {
  Bytes bytes = 0, stacked_bytes = 0;
  uint64_t stacked = 0;
  for (const BlockId id : blocks) {
    if (trace[id].allocated >= account.first_event) continue;
    bytes += AllocatedSize(trace[id]);
    if (!trace[id].stack) continue;
    stacked_bytes += AllocatedSize(trace[id]);
    ++stacked;
  }
  const bool most = account.has_history && bytes > account.told.in_use / 2;
  if (most) remarks->push_back(BeforeRecording(account, bytes, stacked_bytes, stacked));
}

// The fate of empty segments. Private pools keep theirs until their graphs are destroyed.
std::string EmptyText(const IdleMemory& idle) {
  const std::string found = In(idle.empty_bytes, idle.empty_segments, "empty segment");
  if (idle.private_bytes == 0)
    return found + " (empty_cache() returns " + (idle.empty_segments == 1 ? "it)" : "them)");
  if (idle.private_bytes == idle.bytes())
    return found + " of private pools, which keep them for their graphs";
  return found + " (empty_cache() returns what isn't in private pools, which keep theirs)";
}

MemoryRemark Idle(const IdleMemory& idle) {
  MemoryRemark remark{.kind = Kind::kIdle, .bytes = idle.bytes()};
  remark.text = FormatBytes(idle.bytes()) + " reserved but unused at the end: ";
  if (idle.empty_segments > 0) remark.text += EmptyText(idle);
  if (idle.gaps > 0) {
    remark.text += (idle.empty_segments > 0 ? ", " : "") + In(idle.gap_bytes, idle.gaps, "gap");
  }
  remark.text += "; largest free block " + FormatBytes(idle.largest_bytes);
  if (idle.private_bytes > 0) {
    remark.advice = FormatBytes(idle.private_bytes) +
                    " of it in private pools: only captures that are given the same pool share it";
  }
  return remark;
}

std::string Alike(const FamilyBlocks& found, const char* kind) {
  return std::to_string(found.alike) + kind + " of " + FormatBytes(found.most_alike) +
         " are alive at once";
}

MemoryRemark Family(OperatorFamily family, const FamilyBlocks& found) {
  const bool loss = family == OperatorFamily::kLoss;
  const std::string where = found.place.empty() ? "" : " (" + found.place + ")";
  return {.kind = loss ? Kind::kLossBlocks : Kind::kSoftmaxBlocks,
          .bytes = found.bytes,
          .text = Alike(found, loss ? " loss tensors" : " softmax outputs") + where +
                  (found.blocks > found.alike ? ", " + FormatBytes(found.bytes) + " with the others"
                                              : ""),
          .advice = loss ? "chunk the cross-entropy over the tokens, or fuse it with the last layer"
                         : "if they are attention scores: scaled_dot_product_attention keeps none"};
}

MemoryRemark Deferred(Bytes bytes, uint64_t blocks) {
  return {.kind = Kind::kDeferred,
          .bytes = bytes,
          .text = In(bytes, blocks, "block") + " freed, but held back for other streams",
          .advice =
              "record_stream keeps a block until those streams are done: wait for them, or "
              "free later"};
}

void AddDeferred(const Ran& trace, const MemoryAccount& account, std::span<const BlockId> blocks,
                 std::vector<MemoryRemark>* remarks) {
  Bytes bytes = 0;
  uint64_t count = 0;
  for (const BlockId id : blocks) {
    if (trace[id].free_requested > account.told.seq) continue;
    bytes += AllocatedSize(trace[id]);
    ++count;
  }
  if (count > 0) remarks->push_back(Deferred(bytes, count));
}

// The most bytes first. `first_event`: blocks from before it are from before recording.
std::vector<HeldGroup> GroupHeld(const Ran& trace, std::span<const StackName> names,
                                 std::span<const BlockId> blocks, Seq first_event) {
  const bool any_is_named = std::ranges::any_of(blocks, [&](BlockId id) {
    const StackName& name = NameIn(names, trace[id]);
    return name.frame || !name.operation.empty();
  });
  std::map<Key, Building> by_key;
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    const StackName& name = NameIn(names, block);
    const HeldGroup::Kind kind = KindOf(trace, block, name, first_event, any_is_named);
    std::string place = name.frame ? PlaceOfFrame(trace, *name.frame) : name.operation;
    const PoolId pool = kind == HeldGroup::Kind::kPool ? block.pool : PoolId();
    // A place without a line is a program: its functions are told apart.
    std::string key = place;
    if (name.frame && trace.stack_frames[*name.frame].line == 0) {
      key.append(" ").append(trace[trace.stack_frames[*name.frame].function]);
    }
    Building& building = by_key[{kind, std::move(key), pool}];
    building.group.pool = pool;
    building.group.kind = kind;
    building.group.place = std::move(place);
    Take(trace, block, name, &building);
  }
  std::vector<HeldGroup> groups;
  for (auto& [key, building] : by_key) groups.push_back(Finished(std::move(building)));
  std::ranges::stable_sort(groups, std::greater(), &HeldGroup::bytes);
  return groups;
}

// `account`: all but its remarks. Out of memory first, then the most bytes; nothing that is less
// than a fiftieth of the peak in use.
std::vector<MemoryRemark> FindRemarks(const MemoryFacts& facts, std::span<const StackName> names,
                                      const MemoryAccount& account) {
  const Ran& trace = facts.trace;
  constexpr Bytes kWorth = 50;  // of the peak in use, the share that is worth a look
  std::vector<MemoryRemark> remarks;
  remarks.push_back(
      ForwardKept(FindKeptByForward(facts, names, account.device, account.first_event)));
  remarks.push_back(Idle(account.idle_at_end));
  const std::vector<BlockId> blocks = facts.timeline().InUse(account.device, account.told.seq);
  for (const OperatorFamily family : {OperatorFamily::kLoss, OperatorFamily::kSoftmax}) {
    const FamilyBlocks found = FindFamily(trace, names, blocks, family);
    if (found.alike > 1) remarks.push_back(Family(family, found));
  }
  AddDeferred(trace, account, blocks, &remarks);
  AddBeforeRecording(trace, account, blocks, &remarks);
  const Bytes least = std::max<Bytes>(account.moments.peak_in_use.in_use / kWorth, 1);
  std::erase_if(remarks, [&](const MemoryRemark& remark) { return remark.bytes < least; });
  std::ranges::stable_sort(remarks, std::greater(), &MemoryRemark::bytes);
  if (account.out_of_memory) remarks.insert(remarks.begin(), OutOfMemory(facts, account));
  return remarks;
}

MemoryAccount AccountFor(const MemoryFacts& facts, std::span<const StackName> names,
                         DeviceIndex device, Told told) {
  const Ran& trace = facts.trace;
  MemoryAccount account{.device = device, .moments = facts.timeline().Of(device)};
  account.told = account.moments.peak_in_use;
  if (const MemoryHistory* history = HistoryOf(trace)) TakeHistory(facts, *history, &account);
  if (told == Told::kEnd) account.told = account.moments.end;
  const Seq peak = account.moments.peak_in_use.seq;
  const auto at_peak = std::ranges::find(trace.blocks, peak, &Block::allocated);
  if (at_peak != trace.blocks.end()) account.peak_stack = at_peak->stack;
  account.holders = GroupHeld(trace, names, facts.timeline().InUse(device, account.told.seq),
                              account.first_event);
  account.idle_at_end = facts.timeline().IdleAfter(device, trace.records);
  account.remarks = FindRemarks(facts, names, account);
  return account;
}

}  // namespace

std::vector<StackName> NamesOfStacks(const Ran& trace) {
  std::vector<StackName> names;
  names.reserve(trace.stacks.size());
  for (size_t i = 0; i < trace.stacks.size(); ++i) names.push_back(NameOfStack(trace, StackId(i)));
  return names;
}

KeptByForward FindKeptByForward(const MemoryFacts& facts, std::span<const StackName> names,
                                DeviceIndex device, Seq first_event) {
  const Ran& trace = facts.trace;
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  const Seq last = LastOfBackward(trace, names, devices, device, first_event);
  KeptByForward kept{.backward_ran = last != kNever};
  std::map<std::string, Bytes> callers;
  for (const BlockId id : facts.timeline().InUse(device, trace.records)) {
    const Block& block = trace[id];
    const bool kept_by_user = !block.freed() && !block.graph && block.allocated < last;
    if (NameIn(names, block).role != MemoryRole::kForward || !kept_by_user) continue;
    if (!LibraryMemory(trace, block.stack).empty()) continue;
    kept.bytes += AllocatedSize(block);
    ++kept.blocks;
    callers[CallerOfModel(trace, block.stack)] += AllocatedSize(block);
  }
  const auto most =
      std::ranges::max_element(callers, {}, &std::pair<const std::string, Bytes>::second);
  if (most != callers.end()) kept.caller = most->first;
  return kept;
}

FamilyBlocks FindFamily(const Ran& trace, std::span<const StackName> names,
                        std::span<const BlockId> blocks, OperatorFamily family) {
  FamilyBlocks found;
  std::map<Bytes, uint64_t> sizes;
  Bytes largest = 0;
  for (const BlockId id : blocks) {
    const StackName& name = NameIn(names, trace[id]);
    if (!IsOf(trace, name, family)) continue;
    const Bytes bytes = AllocatedSize(trace[id]);
    found.bytes += bytes;
    ++found.blocks;
    ++sizes[bytes];
    if (bytes <= largest) continue;
    largest = bytes;
    found.place = MemoryTitle(trace, trace[id].stack);
  }
  for (const auto& [bytes, count] : sizes) {
    if (bytes * count < found.most_alike * found.alike) continue;
    found.most_alike = bytes;
    found.alike = count;
  }
  return found;
}

std::vector<MemoryAccount> AccountForMemory(const MemoryFacts& facts, Told told) {
  const std::vector<StackName> names = NamesOfStacks(facts.trace);
  std::vector<MemoryAccount> accounts;
  for (const DeviceIndex device : facts.timeline().devices())
    accounts.push_back(AccountFor(facts, names, device, told));
  std::ranges::stable_sort(accounts, std::greater(), [](const MemoryAccount& account) {
    return account.moments.peak_in_use.in_use;
  });
  return accounts;
}

}  // namespace graphkit
