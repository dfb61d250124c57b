#include "libgraphkit/analysis/explain/memory_account.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "libgraphkit/analysis/explain/remarks.h"
#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

const StackName& NameIn(std::span<const StackName> names, const Block& block) {
  static const StackName kNone;
  return block.stack ? names[block.stack.index()] : kNone;
}

bool IsCall(const Trace& trace, const StackFrame& frame) {
  const std::string_view function = trace[frame.function];
  return function == "_call_impl" || function == "_wrapped_call_impl";
}

// at::cuda::getCUDABlasLtWorkspace and others: kept for later calls by the library.
bool IsWorkspace(const Trace& trace, StackId stack) {
  const Slice run = trace.stacks[stack.index()].frames;
  for (uint32_t i = run.first; i < run.first + run.count; ++i) {
    const std::string_view function = trace[trace.stack_frames[i].function];
    if (function.find("orkspace") != function.npos) return true;
  }
  return false;
}

// The line that called the outermost module.
std::string CallerOfModel(const Trace& trace, StackId stack) {
  const Slice run = trace.stacks[stack.index()].frames;
  bool called = false;
  std::string caller;
  for (uint32_t i = run.first; i < run.first + run.count; ++i) {
    const StackFrame& frame = trace.stack_frames[i];
    if (!IsPythonFile(trace[frame.file])) continue;
    if (IsCall(trace, frame)) {
      called = true;
      caller.clear();
    } else if (called && caller.empty() &&
               !IsLibraryFrame(trace[frame.function], trace[frame.file])) {
      caller = ShortPlaceOfFrame(trace, i);
    }
  }
  return caller;
}

// The last allocation of a backward; kNever: there is none. A thread of autograd has no Python
// frames: where no other stack says "backward", what has none is taken for its.
Seq LastOfBackward(const Trace& trace, std::span<const StackName> names,
                   const std::vector<DeviceIndex>& devices, DeviceIndex device, Seq first_event) {
  std::optional<Seq> said, without_stack;
  bool has_stacks = false;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
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

bool IsOf(const Trace& trace, const StackName& name, OperatorFamily family) {
  static constexpr std::array<std::string_view, 4> kLoss = {"cross_entropy", "log_softmax",
                                                            "nll_loss", "logsumexp"};
  static constexpr std::array<std::string_view, 2> kScores = {"softmax", "baddbmm"};
  std::string_view function;
  if (name.frame) function = trace[trace.stack_frames[*name.frame].function];
  const bool loss = Contains(name.operation, kLoss) || Contains(function, kLoss);
  if (family == OperatorFamily::kLoss) return loss;
  return !loss && (Contains(name.operation, kScores) || Contains(function, kScores));
}

// The stack of the allocation that is at that place of the trace.
StackId StackAt(const Trace& trace, Seq seq) {
  const auto at = std::ranges::find(trace.blocks, seq, &Block::allocated);
  return at == trace.blocks.end() ? StackId() : at->stack;
}

void TakeHistory(const MemoryFacts& facts, const MemoryHistory& history, MemoryAccount* account) {
  const Trace& trace = facts.trace;
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

MemoryAccount AccountFor(const MemoryFacts& facts, std::span<const StackName> names,
                         DeviceIndex device, Told told) {
  const Trace& trace = facts.trace;
  MemoryAccount account{.device = device, .moments = facts.timeline().Of(device)};
  account.told = account.moments.peak_in_use;
  if (const MemoryHistory* history = HistoryOf(trace)) TakeHistory(facts, *history, &account);
  if (told == Told::kEnd) account.told = account.moments.end;
  account.peak_stack = StackAt(trace, account.moments.peak_in_use.seq);
  account.holders = GroupHeld(trace, names, facts.timeline().InUse(device, account.told.seq),
                              account.first_event);
  account.idle_at_end = facts.timeline().IdleAfter(device, trace.records);
  account.remarks = FindRemarks(facts, names, account);
  return account;
}

}  // namespace

KeptByForward FindKeptByForward(const MemoryFacts& facts, std::span<const StackName> names,
                                DeviceIndex device, Seq first_event) {
  const Trace& trace = facts.trace;
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  const Seq last = LastOfBackward(trace, names, devices, device, first_event);
  KeptByForward kept{.backward_ran = last != kNever};
  std::map<std::string, Bytes> callers;
  for (const BlockId id : facts.timeline().InUse(device, trace.records)) {
    const Block& block = trace[id];
    const bool kept_by_user = !block.freed() && !block.graph && block.allocated < last;
    if (NameIn(names, block).role != MemoryRole::kForward || !kept_by_user) continue;
    if (IsWorkspace(trace, block.stack)) continue;
    kept.bytes += AllocatedSize(block);
    ++kept.blocks;
    callers[CallerOfModel(trace, block.stack)] += AllocatedSize(block);
  }
  const auto most =
      std::ranges::max_element(callers, {}, &std::pair<const std::string, Bytes>::second);
  if (most != callers.end()) kept.caller = most->first;
  return kept;
}

FamilyBlocks FindFamily(const Trace& trace, std::span<const StackName> names,
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
  for (const DeviceIndex device : facts.timeline().devices()) {
    accounts.push_back(AccountFor(facts, names, device, told));
  }
  std::ranges::stable_sort(accounts, std::greater(), [](const MemoryAccount& account) {
    return account.moments.peak_in_use.in_use;
  });
  return accounts;
}

}  // namespace graphkit
