#include "plugins/cupti_tracer/recorder/eager_sites.h"

#include <algorithm>
#include <utility>

namespace graphkit {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// In the order of the numbers, those with a sign among them.
int64_t Ranked(uint64_t value, uint8_t size) {
  return size == 4 ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
}

}  // namespace

void SeenValues::AddNew(uint64_t value, uint8_t size, uint32_t count) {
  if (count < kMost) {
    values_[count].store(value, kRelaxed);
    count_.store(count + 1, std::memory_order_release);
    return;
  }
  const auto rank = [&](size_t i) { return Ranked(values_[i].load(kRelaxed), size); };
  int64_t least = rank(0), greatest = rank(0);
  for (size_t i = 1; i < kMost; ++i) {
    least = std::min(least, rank(i));
    greatest = std::max(greatest, rank(i));
  }
  // The last two give way, so that the least and the greatest stay.
  const bool ordered = rank(kMost - 2) < rank(kMost - 1);
  const size_t low = ordered ? kMost - 2 : kMost - 1, high = ordered ? kMost - 1 : kMost - 2;
  if (Ranked(value, size) < least) values_[low].store(value, kRelaxed);
  if (Ranked(value, size) > greatest) values_[high].store(value, kRelaxed);
}

void SiteOfThread::Add(const KernelWork& launch, uint64_t number) {
  const uint64_t before = launches_.load(kRelaxed);
  if (before == 0) first_.store(number, kRelaxed);
  last_.store(number, kRelaxed);
  launches_.store(before + 1, kRelaxed);
  for (size_t i = 0; i < 3; ++i) seen_[i].Add(launch.grid[i], sizeof(uint64_t));
  for (size_t i = 0; i < kernel_.scalars.size(); ++i) {
    uint64_t bits;
    if (ReadScalar(launch, kernel_, kernel_.scalars[i], bits))
      seen_[3 + i].Add(bits, kernel_.scalars[i].size);
  }
}

std::optional<EagerSiteRecord> SiteOfThread::Next(ThreadId thread, std::vector<Scalar>& scalars) {
  const uint64_t launches = launches_.load(kRelaxed);
  if (launches == written_) return std::nullopt;
  EagerSiteRecord r;
  r.row.kernel = kernel_.id;
  r.row.stack = stack_;
  r.row.thread = thread;
  r.row.launches = launches - std::exchange(written_, launches);
  r.row.first = first_.load(kRelaxed);
  r.row.last = last_.load(kRelaxed);
  scalars.clear();
  for (size_t i = 0; i < seen_.size(); ++i) {
    Scalar scalar{.argument = Scalar::kGrid, .offset = static_cast<uint16_t>(i)};
    if (i >= 3) scalar.argument = kernel_.scalars[i - 3].argument;
    if (i >= 3) scalar.offset = kernel_.scalars[i - 3].offset;
    seen_[i].ForEach([&](uint64_t value) {
      scalar.bits = value;
      scalars.push_back(scalar);
    });
  }
  return r;
}

uint64_t ThreadSites::KeyOf(uint64_t function, const Chain& chain, uint64_t anchor,
                            std::span<const PythonFrame> python) {
  uint64_t key = function;
  for (uint32_t i = 0; i < chain.count; ++i) key = Mixed(key, WordAt(anchor + chain.offsets[i]));
  for (const PythonFrame& frame : python) {
    key = Mixed(key, reinterpret_cast<uint64_t>(frame.code) ^ Mixed(0, frame.unit));
  }
  return key | 1;
}

bool ThreadSites::Count(const KernelWork& launch, uint64_t anchor, uint64_t stack_end,
                        std::span<const PythonFrame> python) {
  ++launches_;
  const std::shared_ptr<Function>* function = functions_.Find(launch.function);
  if (function == nullptr) return false;
  for (const Chain& chain : (*function)->chains) {
    if (anchor + chain.offsets[chain.count - 1] + sizeof(uint64_t) > stack_end) continue;
    SiteOfThread** site = places_.Find(KeyOf(launch.function, chain, anchor, python));
    if (site == nullptr) continue;
    (*site)->Add(launch, launches_);
    return true;
  }
  if ((*function)->rest == nullptr || (*function)->tries < kMostTries) return false;
  (*function)->rest->Add(launch, launches_);
  return true;
}

// Where the return addresses of a stack lie; empty: they can't be followed.
ThreadSites::Chain ThreadSites::ChainOf(uint64_t anchor, std::span<const FramePlace> frames,
                                        bool has_python) {
  Chain chain;
  for (const FramePlace& frame : frames.first(std::min(frames.size(), chain.offsets.size()))) {
    // A return address lies below where the caller's stack ended.
    const uint64_t slot = frame.stack_top - sizeof(uint64_t);
    if (slot <= anchor || WordAt(slot) != frame.address + 1) {
      if (!has_python) return {};
      break;  // Python's frames tell the callers apart
    }
    chain.offsets[chain.count++] = static_cast<uint32_t>(slot - anchor);
  }
  return chain;
}

bool ThreadSites::Function::Keep(const Chain& chain) {
  if (chain.count == 0) return false;
  const auto same = [&](const Chain& other) {
    return other.count == chain.count && other.offsets == chain.offsets;
  };
  if (std::ranges::any_of(chains, same)) return true;
  if (chains.size() == kMostChains) return false;
  chains.push_back(chain);
  return true;
}

void EagerSites::Add(ThreadSites& thread, const KernelWork& launch, const KernelInfo& kernel,
                     StackId stack, uint64_t anchor, std::span<const FramePlace> frames,
                     std::span<const PythonFrame> python) {
  const std::shared_ptr<ThreadSites::Function>* known = thread.functions_.Find(launch.function);
  ThreadSites::Function& function =
      known != nullptr
          ? **known
          : *thread.functions_.Insert(launch.function, std::make_shared<ThreadSites::Function>());
  ++function.tries;
  const ThreadSites::Chain chain = ThreadSites::ChainOf(anchor, frames, !python.empty());
  if (function.tries <= ThreadSites::kMostTries && sites_ < kMostSites && function.Keep(chain)) {
    ++sites_;
    SiteOfThread& site = thread.sites_.emplace_back(kernel, stack);
    thread.places_.Insert(ThreadSites::KeyOf(launch.function, chain, anchor, python), &site);
    site.Add(launch, thread.launches_);
    return;
  }
  if (function.rest == nullptr) function.rest = &thread.sites_.emplace_back(kernel, StackId{});
  function.rest->Add(launch, thread.launches_);
}

void EagerSites::Write(Records& records, uint64_t time) {
  std::vector<Scalar> scalars;
  for (ThreadSites& thread : threads_) {
    for (SiteOfThread& site : thread.sites_) {
      std::optional<EagerSiteRecord> r = site.Next(thread.thread_, scalars);
      if (!r) continue;
      r->scalars = records.Add(scalars);
      r->time = time;
      records.Write(*r);
    }
  }
}

}  // namespace graphkit
