#include "plugins/cupti_tracer/recorder/eager_counts.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr uint64_t kMostCounted = 4096;  // before a record

uint64_t CopiedBytes(const Operation& operation) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < operation.touch_count; ++i) {
    bytes = std::max(bytes, operation.touches[i].length);
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace

EagerCounts::Place* EagerCounts::Find(const ThreadState& thread, const Call& call) {
  const uint32_t used = used_.load(std::memory_order_acquire);
  for (uint32_t i = 1; i < used; ++i) {
    Place& place = places_[i];
    if (place.stream.load(std::memory_order_relaxed) == call.stream &&
        place.context == call.context && place.tid == thread.tid) {
      return &place;
    }
  }
  return used == kPlaces ? &places_[0] : nullptr;
}

// How many of its sort there are now.
uint64_t EagerCounts::Add(const Call& call, Place& place) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (call.kernel.function != 0) return place.kernels.fetch_add(1, kRelaxed) + 1;
  if (call.work_kind != NodeKind::kMemcpy) return place.others.fetch_add(1, kRelaxed) + 1;
  uint64_t bytes = CopiedBytes(call.own);
  for (const Operation& operation : call.operations) bytes += CopiedBytes(operation);
  place.copied_bytes.fetch_add(bytes, kRelaxed);
  const uint64_t copies = std::max<uint64_t>(1, call.operations.size());
  return place.copies.fetch_add(copies, kRelaxed) + copies;
}

EagerCounts::Outcome EagerCounts::Count(const ThreadState& thread, const Call& call) {
  Place* place = Find(thread, call);
  if (place == nullptr) return Outcome::kNoPlace;
  return Add(call, *place) < kMostCounted ? Outcome::kCounted : Outcome::kFull;
}

void EagerCounts::Claim(const ThreadState& thread, const Call& call, ThreadId thread_id,
                        StreamId stream) {
  const uint32_t used = used_.load(std::memory_order_relaxed);
  Place& place = places_[used];
  place.context = call.context;
  place.tid = thread.tid;
  place.thread_id = thread_id;
  place.stream_id = stream;
  place.stream.store(call.stream, std::memory_order_relaxed);
  Add(call, place);
  used_.store(used + 1, std::memory_order_release);
}

void EagerCounts::Write(Records& records, uint64_t time, bool always) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const uint32_t used = used_.load(kRelaxed);
  for (uint32_t i = 0; i < used; ++i) {
    Place& place = places_[i];
    EagerCountRecord r;
    r.row.stream = place.stream_id;
    r.row.thread = place.thread_id;
    r.row.kernels = place.kernels.exchange(0, kRelaxed);
    r.row.copies = place.copies.exchange(0, kRelaxed);
    r.row.copied_bytes = place.copied_bytes.exchange(0, kRelaxed);
    r.row.others = place.others.exchange(0, kRelaxed);
    const bool some = r.row.kernels != 0 || r.row.copies != 0 || r.row.others != 0;
    if (!some && (!always || written_ || i + 1 < used)) continue;
    r.time = time;
    records.Write(r);
    written_ = true;
  }
}

void EagerCounts::Forget(uint64_t stream) {
  const uint32_t used = used_.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i < used; ++i) {
    if (places_[i].stream.load(std::memory_order_relaxed) == stream)
      places_[i].stream.store(kGone, std::memory_order_relaxed);
  }
}

}  // namespace graphkit
