#include "plugins/cupti_tracer/ground/record_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_process.h"

namespace graphkit {
namespace {

constexpr size_t kKeptForTheEnd = 4096;  // bytes that stay free for the dropped and end records
constexpr size_t kFirstStep = size_t{1} << 20;
constexpr size_t kLargestStep = size_t{1} << 24;
constexpr size_t kInMemory = size_t{1}
                             << 26;  // bytes of the file, where no other bound was asked for
constexpr size_t kPage = 4096;
constexpr size_t kAhead = size_t{1} << 18;  // bytes that get their pages at once
constexpr const char* kCutShort = " was cut short by another program";
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14
// Address space to ask for, so that a growing file need not be mapped again.
constexpr uint64_t kAddressSpace[] = {uint64_t{1} << 38, uint64_t{1} << 34, 1u << 30, kFirstStep};

const int kSeccompAtFirst = prctl(PR_GET_SECCOMP);

// The disk stays usable for others: the trace leaves them a twentieth of it, at most 64 MiB.
bool LeavesReserve(int fd, size_t more) {
  constexpr uint64_t kReserve = uint64_t{1} << 26;
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) != 0) return true;
  const uint64_t reserve = std::min<uint64_t>(kReserve, disk.f_blocks * disk.f_frsize / 20);
  return disk.f_bavail * disk.f_frsize >= reserve + more;
}

}  // namespace

bool MayUseFiles() { return prctl(PR_GET_SECCOMP) == kSeccompAtFirst; }

RecordFile::~RecordFile() { Abandon(); }

bool RecordFile::Fail(std::string_view what, int error) {
  if (!error_.empty()) return false;
  error_ = what;
  if (error != 0) error_ += std::string(": ") + std::strerror(error);
  return false;
}

bool RecordFile::Open(const std::string& path, std::string_view device, uint64_t max_bytes) {
  Abandon();
  records_ = dropped_ = 0;
  error_.clear();
  max_bytes_ = max_bytes;
  path_ = path;
  cut_short_ = false;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return Fail("cannot create " + path, errno);
  struct stat status {};
  const bool known = fstat(fd, &status) == 0;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  const bool mapped = known && std::ranges::any_of(kAddressSpace, [&](uint64_t bytes) {
                        return Map(static_cast<size_t>(bytes), fd);
                      });
  const int error = errno;
  close(fd);
  std::string header = "{\"schema\":\"graphkit-trace\",\"version\":1,\"device\":\"" +
                       std::string(device) + "\",\"records\":[";
  if (!mapped || !GrowFile(header.size() + kKeptForTheEnd)) {
    if (error_.empty()) Fail("cannot map " + path, error);
    Abandon();
    return false;
  }
  WriteLine(header, "\n");
  return true;
}

// The file, for a moment; -1 where its name leads elsewhere by now.
int RecordFile::Reopen() {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int fd = open(path_.c_str(), kFlags);
  if (fd < 0) {
    Fail("cannot open " + path_ + " again", errno);
    return -1;
  }
  struct stat status {};
  const bool ours = fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  cut_short_ = cut_short_ || (ours && static_cast<size_t>(status.st_size) < allocated_);
  if (ours && !cut_short_) return fd;
  Fail(path_ + (ours ? kCutShort : " was replaced by another file"));
  close(fd);
  return -1;
}

bool RecordFile::Rename(const std::string& path) {
  if (rename(path_.c_str(), path.c_str()) != 0) return false;
  path_ = path;
  return true;
}

bool RecordFile::Map(size_t bytes, int fd) {
  void* at = base_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                              : mremap(base_, mapped_, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return false;
  base_ = static_cast<char*>(at);
  mapped_ = bytes;
  madvise(base_, mapped_, MADV_DONTDUMP);
  return true;
}

// Gives the file blocks; 0, or the error. The program's signals may interrupt it.
static int AllocateBlocks(int fd, off_t from, off_t more) {
  if (!LeavesReserve(fd, static_cast<size_t>(more))) return ENOSPC;
  int result = EINTR;
  while (result == EINTR) result = fallocate(fd, 0, from, more) == 0 ? 0 : errno;
  if (result != EOPNOTSUPP && result != ENOSYS) return result;
  do result = posix_fallocate(fd, from, more);
  while (result == EINTR);
  return result;
}

// Bytes that the process may write into a file (ulimit -f): more would raise SIGXFSZ.
static size_t FileSizeLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~size_t{0};
  return limit.rlim_cur;
}

// Makes room for `needed` bytes. Blocks are allocated, not only promised: writing to a promised
// page of a full disk would kill the process.
bool RecordFile::GrowFile(size_t needed) {
  const size_t own_limit = max_bytes_ != 0 ? static_cast<size_t>(max_bytes_) : ~size_t{0};
  const size_t limit = std::min(own_limit, FileSizeLimit());
  limited_ = limit < needed;
  if (limited_) {
    return Fail(limit == own_limit ? "the trace has reached its size limit"
                                   : "the trace has reached the limit on file sizes (ulimit -f)");
  }
  size_t step = std::clamp(allocated_, kFirstStep, kLargestStep);
  size_t target = std::max(allocated_ + step, (needed + kFirstStep - 1) / kFirstStep * kFirstStep);
  target = std::min(target, limit);
  if (target > mapped_ && !Map(std::max(target, mapped_ * 2), -1)) return Fail("cannot map", errno);
  return Allocate(needed, limit, target);
}

bool RecordFile::Allocate(size_t needed, size_t limit, size_t target) {
  if (!MayUseFiles()) {
    return Fail("the program has set a seccomp filter, under which the trace can't grow");
  }
  const int fd = Reopen();
  if (fd < 0) return false;
  auto from = static_cast<off_t>(allocated_), more = static_cast<off_t>(target - allocated_);
  int result = AllocateBlocks(fd, from, more);
  const size_t least = std::min((needed + kPage - 1) / kPage * kPage, limit);
  if (result != 0 && target > least) {  // perhaps there is room for less
    more = static_cast<off_t>(least - allocated_);
    result = AllocateBlocks(fd, from, more);
  }
  close(fd);
  if (result != 0) return Fail("cannot write the trace", result);
  allocated_ += static_cast<size_t>(more);
  return true;
}

// Gives the next bytes their pages in one call: a page fault a page costs several times as much,
// and waits for whatever other threads do to the address space. False: the file has no such bytes
// any more, and touching them would raise SIGBUS.
bool RecordFile::Populate(size_t until) {
  const size_t from = size_ / kPage * kPage;
  until = std::min(allocated_, (until + kPage - 1) / kPage * kPage);
  cut_short_ =
      until > from && madvise(base_ + from, until - from, kPopulateWrite) != 0 && errno == EFAULT;
  if (cut_short_) return Fail(path_ + kCutShort);
  populated_ = until;
  return true;
}

// Gives back the memory of what is written. The pages stay the file's, and come back when they are
// read.
void RecordFile::LetGo() {
  const size_t until = size_ / kPage * kPage, bytes = until - let_go_;
  if (buffer_ != 0) msync(base_ + let_go_, bytes, MS_SYNC);
  madvise(base_ + let_go_, bytes, MADV_DONTNEED);
  let_go_ = until;
}

// The newline is stored last: until then the line doesn't count.
void RecordFile::WriteLine(std::string_view record, std::string_view ending) {
  char* at = base_ + size_;
  std::memcpy(at, record.data(), record.size());
  at += record.size();
  std::memcpy(at, ending.data(), ending.size() - 1);
  at += ending.size() - 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *static_cast<volatile char*>(at) = '\n';
  size_ += record.size() + ending.size();
}

uint64_t RecordFile::Append(std::string_view record) {
  if (base_ == nullptr) return kDropped;
  size_t needed = size_ + record.size() + 2 + kKeptForTheEnd;
  const size_t ahead = buffer_ != 0 ? 0 : kAhead;
  if (cut_short_) Fail(path_ + kCutShort);
  if (dropped_ != 0 || cut_short_ || (needed > allocated_ && !GrowFile(needed)) ||
      (needed > populated_ && !Populate(std::max(needed, size_ + ahead)))) {
    ++dropped_;
    return kDropped;
  }
  uint64_t place = size_;
  WriteLine(record, ",\n");
  ++records_;
  if (size_ - let_go_ >= (buffer_ != 0 ? std::max(buffer_, kPage) : kInMemory)) LetGo();
  return place;
}

std::string_view RecordFile::Read(uint64_t place) const {
  if (base_ == nullptr || place >= size_) return {};
  std::string_view rest(base_ + place, size_ - place);
  const size_t end = rest.find(",\n");
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

void RecordFile::WriteEnd(const RecordCounts& counts) {
  RecordLine line;
  if (dropped_ != 0) {
    DroppedRecord r;
    r.records = dropped_;
    WriteLine(FieldWriter(line, BorrowedValues()).Write(r), ",\n");
    ++records_;
  }
  EndRecord r;
  r.records = records_;
  r.counts = counts;
  WriteLine(FieldWriter(line, BorrowedValues()).Write(r), "]}\n");
}

bool RecordFile::Finish(const RecordCounts& counts) {
  if (base_ == nullptr) return false;
  const int fd = MayUseFiles() ? Reopen() : -1;
  const bool whole = !cut_short_ && Populate(fd < 0 ? allocated_ : size_ + kKeptForTheEnd);
  if (whole) WriteEnd(counts);
  const bool cut = whole && fd >= 0 && ftruncate(fd, static_cast<off_t>(size_)) == 0;
  if (whole && !cut) std::memset(base_ + size_, ' ', allocated_ - size_);
  if (fd >= 0) close(fd);
  Abandon();
  return whole;
}

bool RecordFile::Cover(const void* address) {
  const char* at = static_cast<const char*>(address);
  if (base_ == nullptr || at < base_ || at >= base_ + mapped_) return false;
  char* page = base_ + static_cast<size_t>(at - base_) / kPage * kPage;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  const auto bytes = static_cast<size_t>(base_ + mapped_ - page);
  if (mmap(page, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) == MAP_FAILED) return false;
  cut_short_ = true;
  return true;
}

void RecordFile::Abandon() {
  if (base_ != nullptr) munmap(base_, mapped_);
  base_ = nullptr;
  mapped_ = allocated_ = size_ = populated_ = let_go_ = 0;
}

}  // namespace graphkit
