#include "libgraphkit/analysis/explain/remarks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

using Kind = MemoryRemark::Kind;

// A part that a text has only where there is something to say: "2 GiB in 3 empty segments".
std::string In(Bytes bytes, uint64_t count, const char* thing) {
  return FormatBytes(bytes) + " in " + Count(count, thing);
}

bool IsExpandable(const Trace& trace) {
  return std::ranges::any_of(trace.process.environment, [](const std::string& variable) {
    return variable.find("ALLOC_CONF=") != variable.npos &&
           variable.find("expandable_segments:True") != variable.npos;
  });
}

const char* AdviceFor(const Trace& trace, const OutOfMemoryEvent& failed, const IdleMemory& idle) {
  if (failed.free_on_device >= failed.asked) {
    return "the device had enough: a limit refused it, such as that of "
           "torch.cuda.set_per_process_memory_fraction";
  }
  const Bytes shared = idle.bytes() - idle.private_bytes;
  if (shared + failed.free_on_device >= failed.asked && !IsExpandable(trace)) {
    return "the memory is there, in pieces: PYTORCH_ALLOC_CONF=expandable_segments:True lets "
           "segments grow instead";
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
                " reserved but unused (largest free block " + FormatBytes(idle.largest) + ")";
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
MemoryRemark BeforeRecording(const MemoryAccount& account, Bytes bytes, uint64_t stacked) {
  MemoryRemark remark{.kind = Kind::kBeforeRecording, .bytes = bytes};
  const auto share = static_cast<double>(bytes) / static_cast<double>(account.told.in_use);
  remark.text = FormatBytes(bytes) + ", " + FormatPercent(share) +
                " of the memory above, was allocated before recording began";
  remark.advice = "call torch.cuda.memory._record_memory_history() before the model is made";
  if (stacked > 0) {
    remark.text += "; " + Count(stacked, "block") +
                   (stacked == 1 ? " of it has a call stack" : " of it have call stacks") +
                   ": of an earlier recording, or their events were lost";
    remark.advice += ", with a larger max_entries if events were lost";
  }
  return remark;
}

void AddBeforeRecording(const Trace& trace, const MemoryAccount& account,
                        std::span<const BlockId> blocks, std::vector<MemoryRemark>* remarks) {
  Bytes bytes = 0;
  uint64_t stacked = 0;
  for (const BlockId id : blocks) {
    if (trace[id].allocated >= account.first_event) continue;
    bytes += AllocatedSize(trace[id]);
    stacked += trace[id].stack.valid() ? 1 : 0;
  }
  const bool most = account.has_history && bytes > account.told.in_use / 2;
  if (most) remarks->push_back(BeforeRecording(account, bytes, stacked));
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
  remark.text += "; largest free block " + FormatBytes(idle.largest);
  if (idle.private_bytes > 0) {
    remark.advice = FormatBytes(idle.private_bytes) +
                    " of it in private pools: only captures that are given the same pool share it";
  }
  return remark;
}

std::string Alike(const FamilyBlocks& found) {
  return std::to_string(found.alike) + " × " + FormatBytes(found.most_alike);
}

MemoryRemark Family(OperatorFamily family, const FamilyBlocks& found) {
  const bool loss = family == OperatorFamily::kLoss;
  const std::string where = found.place.empty() ? "" : " (" + found.place + ")";
  return {.kind = loss ? Kind::kLossBlocks : Kind::kSoftmaxBlocks,
          .bytes = found.bytes,
          .text = Alike(found) + (loss ? " of the loss coincide" : " of softmax coincide") + where +
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

void AddDeferred(const Trace& trace, const MemoryAccount& account, std::span<const BlockId> blocks,
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

}  // namespace

const char* NameOf(Kind kind) {
  static constexpr std::array<const char*, 7> kNames = {
      "out-of-memory", "forward-kept",    "idle", "loss-blocks", "softmax-blocks",
      "deferred",      "before-recording"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<MemoryRemark> FindRemarks(const MemoryFacts& facts, std::span<const StackName> names,
                                      const MemoryAccount& account) {
  const Trace& trace = facts.trace;
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

}  // namespace graphkit
