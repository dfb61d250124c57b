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

const char* AdviceFor(const OutOfMemoryEvent& failed, const IdleMemory& idle) {
  if (failed.free_on_device >= failed.asked) {
    return "the device had enough: a limit refused it, such as that of "
           "torch.cuda.set_per_process_memory_fraction";
  }
  if (idle.bytes() + failed.free_on_device >= failed.asked) {
    return "the memory is there, in pieces: PYTORCH_ALLOC_CONF=expandable_segments:True lets "
           "segments grow instead";
  }
  return "the holders above are what has to shrink: a smaller batch, checkpointing, or what is "
         "kept by mistake";
}

MemoryRemark OutOfMemory(const Trace& trace, const MemoryAccount& account) {
  const OutOfMemoryEvent& failed = *account.out_of_memory;
  const IdleMemory idle = FindIdle(trace, account.device, failed.seq);
  MemoryRemark remark{.kind = Kind::kOutOfMemory, .bytes = failed.asked};
  remark.text = "out of memory at event " + FormatCount(failed.event) + ": " +
                FormatBytes(failed.asked) + " asked for, " + FormatBytes(failed.free_on_device) +
                " free on the device, " + FormatBytes(idle.bytes()) +
                " reserved but unused (largest free block " + FormatBytes(idle.largest) + ")";
  remark.advice = AdviceFor(failed, idle);
  return remark;
}

MemoryRemark ActivationsKept(const KeptActivations& kept) {
  MemoryRemark remark{.kind = Kind::kActivationsKept, .bytes = kept.bytes};
  const std::string where = kept.caller.empty() ? "" : " (" + kept.caller + ")";
  remark.text = FormatBytes(kept.bytes) + " of forward activations, " +
                Count(kept.blocks, "block") +
                (kept.backward_ran ? ", are still allocated after the last backward operator"
                                   : ", are allocated at the end, and no backward was recorded");
  remark.advice =
      kept.backward_ran
          ? "does a variable such as `loss` keep the autograd graph?" + where
          : "run inference in torch.no_grad(); else drop the outputs that keep them" + where;
  return remark;
}

MemoryRemark Idle(const IdleMemory& idle) {
  MemoryRemark remark{.kind = Kind::kIdle, .bytes = idle.bytes()};
  remark.text = FormatBytes(idle.bytes()) + " reserved but unused at the end: ";
  if (idle.empty_segments > 0) {
    remark.text += In(idle.empty_bytes, idle.empty_segments, "empty segment") +
                   " (empty_cache() returns " + (idle.empty_segments == 1 ? "it)" : "them)");
  }
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
    bytes += RoundedSize(trace[id]);
    ++count;
  }
  if (count > 0) remarks->push_back(Deferred(bytes, count));
}

}  // namespace

const char* NameOf(Kind kind) {
  static constexpr std::array<const char*, 6> kNames = {
      "out-of-memory", "activations-kept", "idle", "loss-blocks", "softmax-blocks", "deferred"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<MemoryRemark> FindRemarks(const Trace& trace, std::span<const StackName> names,
                                      const MemoryAccount& account) {
  constexpr Bytes kWorth = 50;  // of the peak in use, the share that is worth a look
  std::vector<MemoryRemark> remarks;
  const KeptActivations kept =
      FindKeptActivations(trace, names, account.device, account.first_event);
  remarks.push_back(ActivationsKept(kept));
  remarks.push_back(Idle(account.idle_at_end));
  const std::vector<BlockId> blocks = BlocksInUse(trace, account.device, account.told.seq);
  for (const OperatorFamily family : {OperatorFamily::kLoss, OperatorFamily::kSoftmax}) {
    const FamilyBlocks found = FindFamily(trace, names, blocks, family);
    if (found.alike > 1) remarks.push_back(Family(family, found));
  }
  AddDeferred(trace, account, blocks, &remarks);
  const Bytes least = std::max<Bytes>(account.moments.peak_in_use.in_use / kWorth, 1);
  std::erase_if(remarks, [&](const MemoryRemark& remark) { return remark.bytes < least; });
  std::ranges::stable_sort(remarks, std::greater(), &MemoryRemark::bytes);
  if (account.out_of_memory) remarks.insert(remarks.begin(), OutOfMemory(trace, account));
  return remarks;
}

}  // namespace graphkit
