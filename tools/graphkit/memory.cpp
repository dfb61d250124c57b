#include "tools/graphkit/memory.h"

#include <cstdlib>

// A sanitizer has an operator new of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GRAPHKIT_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GRAPHKIT_SANITIZED
#endif

#if defined(__GLIBC__) && defined(__linux__) && !defined(GRAPHKIT_SANITIZED)

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "libgraphkit/units.h"
#include "tools/graphkit/cli/talk.h"

namespace graphkit {

namespace {

constexpr size_t kLarge = size_t{1} << 20;  // smaller arrays stay on the heap
constexpr size_t kPage = 4096;
constexpr size_t kReach = size_t{1} << 44;  // addresses of the file, each given out once

// The heap is one piece, which grows at its end: nothing is mapped beside it, and it never shrinks.
constinit uintptr_t heap_begin = 0;
constinit uintptr_t heap_end = 0;  // arrays behind it go to the file; 0: it isn't set up
constinit bool forked = false;     // the file is the parent's

// Arrays in a file. All are whole pages; the page before an array says how long both are.
class SpillFile {
 public:
  // Null: there is no file, or no room in it.
  void* Take(size_t size, size_t alignment);
  void Release(void* array);
  bool Holds(const void* array) const {
    return reinterpret_cast<uintptr_t>(array) - reinterpret_cast<uintptr_t>(begin_) < reach_;
  }

 private:
  bool Open();
  bool OpenIn(const std::string& folder);

  std::mutex mutex_;
  bool tried_ = false;
  int file_ = -1;
  std::byte* begin_ = nullptr;
  size_t reach_ = 0;  // 0: not open
  size_t taken_ = 0;
};

bool SpillFile::OpenIn(const std::string& folder) {
  std::string path = folder + "/graphkit.XXXXXX";
  file_ = mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) return false;
  unlink(path.c_str());
  constexpr auto kInMemory = 0x01021994;  // TMPFS_MAGIC
  struct statfs about {};
  if (fstatfs(file_, &about) == 0 && about.f_type != kInMemory) return true;
  close(file_);
  return false;
}

bool SpillFile::Open() {
  if (forked || std::exchange(tried_, true)) return reach_ != 0 && !forked;
  const char* chosen = std::getenv("TMPDIR");
  const bool has_chosen = chosen != nullptr && *chosen != '\0';
  std::string folder = has_chosen ? chosen : "/var/tmp";
  if (!OpenIn(folder) && (has_chosen || !OpenIn(folder = "/tmp"))) return false;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* addresses = mmap(nullptr, kReach, PROT_NONE, flags, -1, 0);
  if (addresses == MAP_FAILED) return false;
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  begin_ = static_cast<std::byte*>(addresses);
  reach_ = kReach;
  PrintNote("memory beyond " + FormatBytes(Bytes{heap_end - heap_begin}) + " lies in " + folder +
            " (TMPDIR and GRAPHKIT_MEMORY change that)");
  return true;
}

void* SpillFile::Take(size_t size, size_t alignment) {
  const std::lock_guard lock(mutex_);
  if (!Open()) return nullptr;
  const size_t array = RoundUp(taken_ + kPage, std::max(alignment, kPage));
  const size_t end = RoundUp(array + size, kPage);
  if (size > kReach || end > kReach) return nullptr;
  const size_t first = array - kPage;
  // With its blocks: to write where the disk is full would kill the process.
  if (posix_fallocate(file_, static_cast<off_t>(first), static_cast<off_t>(end - first)) != 0) {
    return nullptr;
  }
  void* pages = mmap(begin_ + first, end - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     file_, static_cast<off_t>(first));
  if (pages == MAP_FAILED) return nullptr;
  *static_cast<size_t*>(pages) = end - first;
  taken_ = end;
  return begin_ + array;
}

void SpillFile::Release(void* array) {
  if (forked) return;
  std::byte* pages = static_cast<std::byte*>(array) - kPage;
  const size_t size = *reinterpret_cast<const size_t*>(pages);
  const std::lock_guard lock(mutex_);
  mmap(pages, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, pages - begin_,
            static_cast<off_t>(size));
}

constinit SpillFile spilled;

// Null: there is no memory.
void* Allocate(size_t size, size_t alignment) {
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size)
                     : std::aligned_alloc(alignment, RoundUp(size, alignment));
  if (size < kLarge || heap_end == 0) return memory;
  const uintptr_t offset = reinterpret_cast<uintptr_t>(memory) - heap_begin;
  if (memory != nullptr && offset + size <= heap_end - heap_begin) return memory;
  void* array = spilled.Take(size, alignment);
  if (array == nullptr) return memory;
  std::free(memory);
  return array;
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* memory = Allocate(std::max<size_t>(size, 1), alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Deallocate(void* memory) {
  if (spilled.Holds(memory)) return spilled.Release(memory);
  std::free(memory);
}

std::optional<Bytes> NumberIn(const std::string& path) {
  Bytes number = 0;
  std::ifstream file(path);
  if (!(file >> number)) return std::nullopt;  // "max": no limit
  return number;
}

// The least limit of the control groups (version 1 and 2) that the process is in. /proc/self/cgroup
// has a line number:controllers:path for each hierarchy; that of version 2 has no controllers.
Bytes GroupLimit() {
  Bytes least = ~Bytes{0};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* name = unified ? "/memory.max" : "/memory.limit_in_bytes";
    std::string path = line.substr(second + 1);
    for (; !path.empty(); path.resize(path.rfind('/'))) {  // and of those around them
      least = std::min(least, NumberIn(root + path + name).value_or(least));
    }
    least = std::min(least, NumberIn(root + name).value_or(least));
  }
  return least;
}

Bytes AvailableMemory() {
  std::ifstream about("/proc/meminfo");
  for (std::string key; about >> key;) {
    Bytes kilobytes = 0;
    if (key == "MemAvailable:" && about >> kilobytes) return kilobytes << 10;
  }
  return ~Bytes{0};
}

Bytes HeapLimit() {
  if (const char* text = std::getenv("GRAPHKIT_MEMORY"); text != nullptr && *text != '\0') {
    if (const std::optional<Bytes> bytes = ParseBytes(text)) return *bytes;
    PrintWarning("GRAPHKIT_MEMORY: invalid size '" + std::string(text) + "'; for example 8GiB");
  }
  return std::min(AvailableMemory(), GroupLimit()) / 2;
}

}  // namespace

// Memory that was freed is kept for what is allocated next, by any thread: a large trace takes and
// gives back many arrays, and to touch memory for the first time costs more than to fill it.
void SetUpMemory() {
  constexpr size_t kTopPad = size_t{64} << 20;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, kTopPad);
  mallopt(M_ARENA_MAX, 1);
  void* first = std::malloc(kLarge);
  heap_begin = reinterpret_cast<uintptr_t>(first);
  const bool at_end = reinterpret_cast<uintptr_t>(sbrk(0)) - heap_begin < 2 * kTopPad;
  std::free(first);
  if (!at_end) return;  // another malloc, preloaded
  heap_end = heap_begin + std::min<Bytes>(HeapLimit(), ~uintptr_t{0} - heap_begin);
}

}  // namespace graphkit

void* operator new(size_t size) {
  return graphkit::AllocateOrThrow(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return graphkit::AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { graphkit::Deallocate(memory); }
void operator delete(void* memory, size_t) noexcept { graphkit::Deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { graphkit::Deallocate(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  graphkit::Deallocate(memory);
}

#else

namespace graphkit {
void SetUpMemory() {}
}  // namespace graphkit

#endif
