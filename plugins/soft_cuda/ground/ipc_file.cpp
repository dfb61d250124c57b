#include "plugins/soft_cuda/ground/ipc_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace graphkit::soft {
namespace {

constexpr char kFolder[] = "/dev/shm/";
constexpr char kPrefix[] = "graphkit-soft.";
constexpr uint64_t kMark = 0x3163706974666f73;  // "softipc1"

struct Own {
  int32_t process = 0;
  uint64_t name = 0;
};
Own own;

std::string PathOf(int32_t process, uint64_t name) {
  char text[64];
  std::snprintf(text, sizeof text, "%s%d.%016" PRIx64, kPrefix, process, name);
  return kFolder + std::string(text);
}

void RemoveOwn() {
  if (own.process == getpid()) unlink(PathOf(own.process, own.name).c_str());
}
// Processes that end by exit(), whatever their handlers still do with the memory: it stays mapped.
__attribute__((destructor)) void AtEnd() { RemoveOwn(); }

// Of processes that are gone.
void RemoveLeft() {
  DIR* folder = opendir(kFolder);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    int process = 0;
    if (std::strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) continue;
    if (std::sscanf(entry->d_name + sizeof kPrefix - 1, "%d.", &process) != 1) continue;
    if (process > 0 && !IsRunning(process)) unlinkat(dirfd(folder), entry->d_name, 0);
  }
  closedir(folder);
}

bool IsUsers(int file) {
  struct stat about {};
  return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
}

int Make() {
  RemoveLeft();
  uint64_t name = 0;
  if (getrandom(&name, sizeof name, 0) != ssize_t{sizeof name}) return -1;
  const std::string path = PathOf(getpid(), name);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  // Places beyond the states have memory once a block is moved there.
  constexpr off_t kEnd = off_t{1} << 50;
  if (posix_fallocate(file, 0, off_t{kIpcEventBytes}) != 0 || ftruncate(file, kEnd) != 0) {
    unlink(path.c_str());
    close(file);
    return -1;
  }
  own = {getpid(), name};
  return file;
}

int OpenPath(int32_t process, uint64_t name) {
  const int file = open(PathOf(process, name).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && !IsUsers(file)) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

void IpcEvent::Finish(uint64_t number) {
  uint64_t before = done.load(std::memory_order_relaxed);
  while (before < number &&
         !done.compare_exchange_weak(before, number, std::memory_order_release)) {
  }
}

int OpenOwnIpcFile(IpcPlace* place) {
  const int file = own.process == getpid() ? OpenPath(own.process, own.name) : Make();
  *place = {.mark = kMark, .file = own.name, .process = own.process};
  return file;
}

int OpenIpcFile(const IpcPlace& place) {
  return place.mark == kMark ? OpenPath(place.process, place.file) : -1;
}

IpcEvent* MapIpcEvents(const IpcPlace& place, int file) {
  static auto* const mapped = new std::map<uint64_t, IpcEvent*>;
  IpcEvent*& events = (*mapped)[place.file];
  if (events != nullptr) return events;
  void* at = mmap(nullptr, kIpcEventBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at != MAP_FAILED ? events = static_cast<IpcEvent*>(at) : nullptr;
}

bool IsRunning(int32_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace graphkit::soft
