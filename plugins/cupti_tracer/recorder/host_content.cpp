#include "plugins/cupti_tracer/recorder/host_content.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace graphkit {

uint32_t HostContent::Watch(const Operation& copy) {
  for (const TouchedMemory& touch : std::span(copy.touches, copy.touch_count)) {
    if (touch.write || touch.length <= 0 || touch.rows != AccessRows()) continue;
    const Bytes length = std::min(static_cast<Bytes>(touch.length), kMostBytes);
    const auto place = memory_.Find(touch.address, length);
    if (!place || !place->readable || watched_.size() == kMostWatched) continue;
    const auto number = static_cast<uint32_t>(watched_.size());
    const auto [known, fresh] = numbers_.try_emplace({touch.address, length}, number);
    if (fresh) watched_.push_back({touch.address, length, {}, 0});
    Look({&known->second, 1});
    return known->second;
  }
  return kNone;
}

void HostContent::OnLaunch(std::span<const uint32_t> watched) {
  std::array<uint32_t, kMostRanges> due;
  size_t count = 0;
  for (const uint32_t number : watched.first(std::min(watched.size(), kMostRanges))) {
    Watched& range = watched_[number];
    if (range.calm == kMostCalm) {
      range.block = {};  // what changed meanwhile isn't known
      continue;
    }
    ++range.calm;
    due[count++] = number;
  }
  Look({due.data(), count});
}

template <typename Visit>
void HostContent::ForEachIn(const TouchedMemory& touch, Visit visit) const {
  const Bytes length = touch.length > 0 ? static_cast<Bytes>(touch.length) : 1;
  const Address first = touch.address - std::min(touch.address, kMostBytes);
  for (auto it = numbers_.lower_bound({first, 0}); it != numbers_.end(); ++it) {
    const auto [address, bytes] = it->first;
    if (address >= touch.address + length) return;
    if (address + bytes > touch.address) visit(it->second);
  }
}

void HostContent::OnWork(const Operation& work) {
  if (watched_.empty()) return;
  std::vector<uint32_t> read;
  for (const TouchedMemory& touch : std::span(work.touches, work.touch_count)) {
    ForEachIn(touch, [&](uint32_t number) {
      watched_[number].calm = 0;
      std::vector<uint32_t>& of = touch.write ? written_ : read;
      if (of.size() < kMostRanges && std::ranges::find(of, number) == of.end())
        of.push_back(number);
    });
  }
  Look(read);
}

void HostContent::OnHostWait() {
  if (!written_.empty()) Look(std::exchange(written_, {}));
}

void HostContent::Look(std::span<const uint32_t> watched) {
  std::array<iovec, kMostRanges> from;
  std::array<uint32_t, kMostRanges> of;
  std::array<Access, kMostRanges> accesses;
  size_t count = 0;
  Bytes total = 0;
  for (const uint32_t number : watched) {
    const Watched& range = watched_[number];
    const auto place = memory_.Find(range.address, range.length);
    if (refused_ || !place || !place->readable) continue;
    if (count == kMostRanges || total + range.length > kMostAtOnce) break;
    from[count] = {reinterpret_cast<void*>(range.address), range.length};
    of[count] = number;
    accesses[count] = {.block = place->block, .offset = place->offset, .length = range.length};
    ++count, total += range.length;
  }
  if (count == 0) return;
  if (bytes_.size() < total) bytes_.resize(kMostAtOnce);
  const iovec to = {bytes_.data(), total};
  const ssize_t read = process_vm_readv(getpid(), &to, 1, from.data(), count, 0);
  if (read <= 0) {
    refused_ = read < 0 && errno != EFAULT;
    return;
  }
  const char* bytes = bytes_.data();
  for (size_t i = 0; i < count; bytes += accesses[i].length, ++i) {
    Watched& range = watched_[of[i]];
    if (bytes + range.length > bytes_.data() + read) return;
    const uint64_t before = std::exchange(range.content, FingerprintOf(bytes, range.length));
    if (std::exchange(range.block, accesses[i].block) != accesses[i].block) continue;
    if (before == range.content) continue;
    HostContentRecord r;
    r.row.block = accesses[i].block;
    r.row.offset = accesses[i].offset;
    r.row.length = accesses[i].length;
    records_.Write(r);
  }
}

}  // namespace graphkit
