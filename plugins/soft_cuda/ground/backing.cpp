#include "plugins/soft_cuda/ground/backing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "plugins/soft_cuda/device/gpu.h"

namespace graphkit::soft {
namespace {

constexpr uint64_t kLeastRun = 16 * kPageBytes;         // shorter fills are written
constexpr uint64_t kPatternBytes = uint64_t{16} << 20;  // of one file at most; one mapping's length
constexpr uint64_t kLook = 512 * kPageBytes;            // bytes that a copy looks at at once
constexpr uint64_t kAllPatterns = uint64_t{256} << 20;
constexpr size_t kMostMapped = 20000;  // mappings; Linux gives a process 65 530

const std::byte* Bytes(uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

// One word all over?
bool IsUniform(uint64_t page, uint32_t* word) {
  std::memcpy(word, PlaceAt(page), sizeof *word);
  return std::memcmp(Bytes(page), Bytes(page) + sizeof *word, kPageBytes - sizeof *word) == 0;
}

// Sets bytes as Backing::Fill says.
void SetBytes(uint64_t to, uint64_t bytes, uint32_t word) {
  std::array<std::byte, sizeof word> parts;
  std::memcpy(parts.data(), &word, sizeof word);
  if (std::all_of(parts.begin(), parts.end(), [&](std::byte b) { return b == parts[0]; })) {
    std::memset(PlaceAt(to), std::to_integer<int>(parts[0]), bytes);
    return;
  }
  auto* out = reinterpret_cast<std::byte*>(to);
  for (; bytes > 0 && to % sizeof word != 0; ++to, --bytes) *out++ = parts[to % sizeof word];
  for (; bytes >= sizeof word; bytes -= sizeof word, out += sizeof word)
    std::memcpy(out, &word, sizeof word);
  for (size_t i = 0; i < bytes; ++i) *out++ = parts[i];
}

// A file of the word again and again. Only its mapping is kept, and copied to where it is needed:
// the program may close any descriptor.
void* MakePattern(uint32_t word, uint64_t bytes) {
  const int file = memfd_create("graphkit soft pattern", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* place = MAP_FAILED;
  void* filled = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    filled = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (filled != MAP_FAILED) {
    SetBytes(reinterpret_cast<uint64_t>(filled), bytes, word);
    munmap(filled, bytes);
  }
  if (place == MAP_FAILED) return nullptr;
  // Linux before 5.13 copies no mappings of files.
  void* copy = mremap(place, kPageBytes, kPageBytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  munmap(copy != MAP_FAILED ? copy : place, copy != MAP_FAILED ? kPageBytes : bytes);
  return copy != MAP_FAILED ? place : nullptr;
}

// Bytes that the group of processes in the folder may still take.
uint64_t SpareOf(const std::string& folder, const char* most_name, const char* used_name) {
  uint64_t most = 0;
  uint64_t used = 0;
  std::ifstream limit(folder + most_name);
  std::ifstream current(folder + used_name);
  if (!(limit >> most) || !(current >> used)) return ~uint64_t{0};  // "max": no limit
  return most - std::min(most, used);
}

// Bytes that the control groups of the process may still take. /proc/self/cgroup has a line
// number:controllers:path for each hierarchy; that of version 2 has no controllers.
uint64_t SpareOfGroups() {
  uint64_t spare = ~uint64_t{0};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    // A group has the limits of those around it as well.
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      const std::string folder = root + (path == "/" ? "" : path);
      spare = std::min(
          spare, unified ? SpareOf(folder, "/memory.max", "/memory.current")
                         : SpareOf(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
      if (path.rfind('/') == std::string::npos) break;
    }
  }
  return spare;
}

// Bytes that the machine, or the group that the process is in, has to spare.
uint64_t Spare() {
  uint64_t spare = ~uint64_t{0};
  std::ifstream memory("/proc/meminfo");
  for (std::string key; memory >> key;) {
    if (key != "MemAvailable:") continue;
    memory >> spare;
    spare <<= 10;
    break;
  }
  return std::min(spare, SpareOfGroups());
}

uint64_t ReadLimit() {
  const uint64_t spare = Spare();
  const uint64_t most = spare == ~uint64_t{0} ? spare : spare - spare / 8;
  const char* text = std::getenv("GRAPHKIT_SOFT_MEMORY");
  if (text == nullptr) return most;
  if (const auto bytes = ReadBytes(text)) return *bytes;
  std::fprintf(stderr,
               "graphkit soft device: GRAPHKIT_SOFT_MEMORY: invalid size '%s'; for example 8GiB; "
               "the limit is %llu MiB\n",
               text, static_cast<unsigned long long>(most >> 20));
  return most;
}

Data ReadData() {
  const char* text = std::getenv("GRAPHKIT_SOFT_DATA");
  if (text == nullptr || std::string_view(text) == "all") return Data::kAll;
  if (std::string_view(text) == "stale") return Data::kStale;
  if (std::string_view(text) == "none") return Data::kNone;
  std::fprintf(stderr,
               "graphkit soft device: GRAPHKIT_SOFT_DATA: '%s' is none of all, stale, none; "
               "all bytes are kept\n",
               text);
  return Data::kAll;
}

}  // namespace

Backing::Backing() : limit_(ReadLimit()), data_(ReadData()) {}

void Backing::Open(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  uint64_t end = begin + size;
  auto next = open_.upper_bound(begin);
  if (next != open_.begin() && std::prev(next)->second >= begin) --next;
  while (next != open_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = open_.erase(next);
  }
  open_[begin] = end;
}

void Backing::Close(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const uint64_t end = begin + size;
  contents_.Forget(begin, size);
  auto next = open_.upper_bound(begin);
  if (next != open_.begin() && std::prev(next)->second > begin) --next;
  while (next != open_.end() && next->first < end) {
    const auto [first, last] = *next;
    next = open_.erase(next);
    if (first < begin) open_[first] = begin;
    if (last > end) open_[end] = last;
  }
}

// Of the host's own memory nothing is known: it is taken to be there.
bool Backing::CanTouch(uint64_t address, uint64_t bytes) {
  if (RangeOf(address) == nullptr) return true;
  const auto next = open_.upper_bound(address);
  if (next != open_.begin() && std::prev(next)->second >= address + bytes) return true;
  met_unmapped_ = true;
  return false;
}

bool Backing::met_unmapped() {
  const std::lock_guard lock(mutex_);
  return met_unmapped_;
}

void Backing::ForgetUnmapped() {
  const std::lock_guard lock(mutex_);
  met_unmapped_ = false;
}

const Backing::Range* Backing::RangeOf(uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return nullptr;
  const Range& range = std::prev(next)->second;
  return address < range.end ? &range : nullptr;
}

bool Backing::IsPrivate(uint64_t address, uint64_t bytes) const {
  const Range* range = RangeOf(address);
  return range != nullptr && range->is_private && address + bytes <= range->end;
}

bool Backing::TakeFailure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failed_, false);
}

bool Backing::HasRoom(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (written_ + shared_written_ > limit_ / 2) CountShared();
  const uint64_t used = written_ + shared_written_;
  if (!keeps_bytes() || used <= limit_ / 2 || bytes <= limit_ - std::min(limit_, used)) return true;
  if (!std::exchange(refused_, true)) {
    std::fprintf(stderr,
                 "graphkit soft device: device memory holds %llu of the %llu MiB that it may take "
                 "of the host: an allocation that may not fit returns 'out of memory'; set "
                 "GRAPHKIT_SOFT_MEMORY higher, or keep no bytes: GRAPHKIT_SOFT_DATA=none\n",
                 static_cast<unsigned long long>(used >> 20),
                 static_cast<unsigned long long>(limit_ >> 20));
  }
  return false;
}

// Counts what writing there costs; false: more than there is.
bool Backing::Reserve(uint64_t to, uint64_t bytes) {
  const Range* range = RangeOf(to);
  if (range == nullptr) return true;
  // Small writes go to the same pages again and again: those that are known to be paid aren't
  // asked.
  const bool one_page = PageDown(to) == PageDown(to + bytes - 1);
  uint64_t& paid = paid_[to / kPageBytes % paid_.size()];
  if (one_page && paid == PageDown(to)) return true;
  const uint64_t owned = range->is_private ? pages_.Owned(to, bytes) : 0;
  const uint64_t cost = pages_.Touched(to, bytes) - owned;
  if (cost > limit_ - std::min(limit_, written_ + shared_written_)) CountShared();
  if (cost > 0 && cost > limit_ - std::min(limit_, written_ + shared_written_)) {
    failed_ = true;
    return false;
  }
  (range->is_private ? written_ : shared_written_) += cost;
  if (range->is_private && one_page) paid = PageDown(to);
  return true;
}

void Backing::GiveBack(uint64_t begin, uint64_t size) {
  written_ -= std::min(written_, pages_.Owned(begin, size));
  paid_.fill(0);
}

void Backing::Write(uint64_t to, uint64_t bytes, uint32_t word) {
  if (bytes > 0 && Reserve(to, bytes)) SetBytes(to, bytes, word);
}

void Backing::WriteBytes(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes > 0 && Reserve(to, bytes)) std::memmove(PlaceAt(to), PlaceAt(from), bytes);
}

// The `plain` bytes that end there, which are written then.
void Backing::WritePlain(uint64_t to, uint64_t from, uint64_t& plain) {
  if (plain == 0) return;
  WriteBytes(to - plain, from - plain, plain);
  plain = 0;
}

// Whatever patterns were mapped in the range aren't any more.
void Backing::Forget(uint64_t begin, uint64_t size) {
  const uint64_t end = begin + size;
  auto it = mapped_.upper_bound(begin);
  if (it != mapped_.begin()) --it;
  while (it != mapped_.end() && it->first < end) {
    const auto [first, old] = *it;
    if (old.end <= begin) {
      ++it;
      continue;
    }
    it = mapped_.erase(it);
    if (first < begin) mapped_[first] = {begin, old.word};
    if (old.end > end) it = mapped_.emplace(end, old).first;
  }
}

bool Backing::MapNothing(uint64_t begin, uint64_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(PlaceAt(begin), size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return false;
  madvise(PlaceAt(begin), size, MADV_DONTDUMP);
  return true;
}

void* Backing::PatternOf(uint32_t word, uint64_t bytes) {
  Pattern& pattern = patterns_[word];
  if (pattern.bytes >= bytes) return pattern.place;
  bytes = std::bit_ceil(bytes);
  if (pattern_bytes_ + bytes > kAllPatterns) return nullptr;
  void* place = MakePattern(word, bytes);
  if (place == nullptr) return nullptr;
  // The smaller one stays in memory as long as a range has it.
  if (pattern.place != nullptr) munmap(pattern.place, pattern.bytes);
  pattern_bytes_ += bytes;
  pattern = {place, bytes};
  return place;
}

bool Backing::MapWord(uint64_t begin, uint64_t size, uint32_t word) {
  if (mapped_.size() + size / kPatternBytes >= kMostMapped) return false;
  void* pattern = PatternOf(word, std::min(size, kPatternBytes));
  if (pattern == nullptr) return false;
  for (uint64_t at = begin; at < begin + size; at += kPatternBytes) {
    const uint64_t length = std::min(kPatternBytes, begin + size - at);
    const int flags = MREMAP_MAYMOVE | MREMAP_DONTUNMAP | MREMAP_FIXED;
    if (mremap(pattern, length, length, flags, PlaceAt(at)) == MAP_FAILED) {
      MapNothing(at, begin + size - at);  // the place may be empty now
      return false;
    }
    madvise(PlaceAt(at), length, MADV_DONTDUMP);
    Forget(at, length);
    mapped_[at] = {at + length, word};
  }
  return true;
}

// Whole pages of a private range.
void Backing::FillPages(uint64_t begin, uint64_t size, uint32_t word) {
  GiveBack(begin, size);
  if (word == 0 && MapNothing(begin, size)) return Forget(begin, size);
  if (word != 0 && MapWord(begin, size, word)) return;
  Write(begin, size, word);
}

void Backing::Pass(std::span<const Passed> memory) {
  const std::lock_guard lock(mutex_);
  for (const Passed& passed : memory) contents_.Pass(passed);
}

void Backing::ForgetContents(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  contents_.Forget(begin, size);
}

void Backing::Clear(uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const uint64_t last = PageDown(begin + size);
  for (uint64_t at = PageUp(begin); at < last;) {
    const Range* range = RangeOf(at);
    const uint64_t end = std::min(last, range != nullptr ? range->end : last);
    if (range == nullptr || range->is_private) {
      FillPages(at, end - at, 0);
    } else {
      std::memset(PlaceAt(at), 0, end - at);
    }
    at = end;
  }
}

void Backing::Fill(uint64_t to, uint64_t bytes, uint32_t word) {
  const std::lock_guard lock(mutex_);
  if (!CanTouch(to, bytes)) return;
  FillBytes(to, bytes, word);
  if (follows_kernels() && RangeOf(to) != nullptr) contents_.Write(to, bytes);
}

void Backing::FillBytes(uint64_t to, uint64_t bytes, uint32_t word) {
  const Range* range = RangeOf(to);
  if (range != nullptr && !keeps_bytes()) return;
  const uint64_t first = PageUp(to);
  const uint64_t last = PageDown(to + bytes);
  if (range == nullptr || last < first + kLeastRun) return Write(to, bytes, word);
  Write(to, first - to, word);
  if (IsPrivate(to, bytes)) {
    FillPages(first, last - first, word);
  } else if (word != 0 || madvise(PlaceAt(first), last - first, MADV_REMOVE) != 0) {
    Write(first, last - first, word);
  }
  Write(last, to + bytes - last, word);
}

bool Backing::IsBlank(uint64_t page) {
  bool blank = false;
  return pages_.Read(page, {&blank, 1}) && blank;
}

// The contents of a blank page of a private range.
uint32_t Backing::BaseWord(uint64_t page) const {
  auto next = mapped_.upper_bound(page);
  if (next == mapped_.begin()) return 0;
  const Mapped& mapped = std::prev(next)->second;
  return page < mapped.end ? mapped.word : 0;
}

bool Backing::HasPatterns(uint64_t begin, uint64_t size) const {
  auto next = mapped_.lower_bound(begin + size);
  return next != mapped_.begin() && std::prev(next)->second.end > begin;
}

// The word that a page holds all over; `blank`: it is of a private range, and not yet touched
// it.
bool Backing::WordOf(uint64_t page, bool blank, uint32_t* word) {
  if (!blank) return IsUniform(page, word);
  *word = BaseWord(page);
  return true;
}

// Does a page of the target hold the word already?
bool Backing::IsFilled(uint64_t page, uint32_t word) {
  if (IsPrivate(page, kPageBytes) && IsBlank(page)) return BaseWord(page) == word;
  uint32_t held = 0;
  return IsUniform(page, &held) && held == word;
}

void Backing::Flush(Run& run) {
  const Run done = std::exchange(run, {});
  if (done.size >= kLeastRun && IsPrivate(done.begin, done.size)) {
    const bool same = done.word == 0 && !HasPatterns(done.begin, done.size) &&
                      pages_.AreBlank(done.begin, done.size);
    if (!same) FillPages(done.begin, done.size, done.word);
    return;
  }
  for (uint64_t page = done.begin; page < done.begin + done.size; page += kPageBytes) {
    if (!IsFilled(page, done.word)) Write(page, kPageBytes, done.word);
  }
}

// Do all pages hold one word because they were mapped so?
bool Backing::HaveOneBase(uint64_t begin, uint64_t size) const {
  if (!HasPatterns(begin, size)) return true;
  const auto next = mapped_.upper_bound(begin);
  return next != mapped_.begin() && std::prev(next)->second.end >= begin + size;
}

// To whole pages. Runs of pages of one word become fills; bytes between them are written at once.
void Backing::CopyPages(uint64_t to, uint64_t from, uint64_t size) {
  const bool own = (to - from) % kPageBytes == 0 && IsPrivate(from, size);
  std::array<bool, kLook / kPageBytes> blank;
  Run run;
  uint64_t plain = 0;  // bytes before this place that have to be written
  const auto add = [&](uint64_t at, uint64_t bytes, uint32_t word) {
    WritePlain(to + at, from + at, plain);
    if (run.size > 0 && word != run.word) Flush(run);
    if (run.size == 0) run = {to + at, 0, word};
    run.size += bytes;
  };
  const auto add_pages = [&](uint64_t batch, uint64_t bytes) {
    for (uint64_t at = batch; at < batch + bytes; at += kPageBytes) {
      uint32_t word = 0;
      if (WordOf(from + at, blank[(at - batch) / kPageBytes], &word)) {
        add(at, kPageBytes, word);
        continue;
      }
      if (run.size > 0) Flush(run);
      plain += kPageBytes;
    }
  };
  for (uint64_t batch = 0; batch < size; batch += kLook) {
    const uint64_t bytes = std::min(kLook, size - batch);
    const size_t count = bytes / kPageBytes;
    if (!own || !pages_.Read(from + batch, {blank.data(), count})) blank.fill(false);
    const bool all = std::all_of(blank.begin(), blank.begin() + count, [](bool b) { return b; });
    if (all && HaveOneBase(from + batch, bytes)) {
      add(batch, bytes, BaseWord(from + batch));
      continue;
    }
    add_pages(batch, bytes);
    WritePlain(to + batch + bytes, from + batch + bytes, plain);
  }
  if (run.size > 0) Flush(run);
}

void Backing::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool target = RangeOf(to) != nullptr;
  const bool source = RangeOf(from) != nullptr;
  if (!CanTouch(to, bytes) || !CanTouch(from, bytes)) return;
  std::vector<Contents::Part> unknown;
  if (follows_kernels() && source) unknown = contents_.UnknownIn(from, bytes);
  if (unknown != std::vector<Contents::Part>{{from, from + bytes}}) CopyBytes(to, from, bytes);
  for (const Contents::Part& part : unknown)
    FillBytes(to + (part.begin - from), part.end - part.begin, 0);
  if (follows_kernels() && target) contents_.Write(to, bytes);
}

void Backing::CopyBytes(uint64_t to, uint64_t from, uint64_t bytes) {
  const bool target = RangeOf(to) != nullptr;
  const bool source = RangeOf(from) != nullptr;
  if (!keeps_bytes() && target) return;
  if (!keeps_bytes() && source) return SetBytes(to, bytes, 0);
  const bool apart = to + bytes <= from || from + bytes <= to;
  if ((!target && !source) || bytes < kLeastRun || !apart) return WriteBytes(to, from, bytes);
  const uint64_t first = PageUp(to);
  const uint64_t last = PageDown(to + bytes);
  WriteBytes(to, from, first - to);
  CopyPages(first, from + (first - to), last - first);
  WriteBytes(last, from + (last - to), to + bytes - last);
}

}  // namespace graphkit::soft
