// Memory that processes of one machine share (cudaIpc…, exported pools). Each process that exports
// something has a file in /dev/shm:
//
//   | states of events, 1 MiB | bytes of the first device's addresses | of the next one's | …
//
// The pages of an exported block are moved into the file, at the place of their address, and stay
// at that address (Backing::Lay). Another process maps them where it has room. The file is opened
// by its name, and never held open. Its process removes it at its end, and those of processes
// that were killed are removed by the next one that makes a file.
#pragma once

#include <unistd.h>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace graphkit::soft {

// The content of a handle, in its 64 bytes.
struct IpcPlace {
  uint64_t mark;
  uint64_t file;  // its random name
  int32_t process;
  int32_t gpu;  // place in the machine
  uint64_t offset;
  uint64_t size;
  uint64_t unused[3];
};
static_assert(sizeof(IpcPlace) == 64);

// What a handle of the API holds.
template <typename Handle>
IpcPlace PlaceOf(const Handle& handle) {
  static_assert(sizeof handle == sizeof(IpcPlace));
  IpcPlace place{};
  std::memcpy(&place, &handle, sizeof place);
  return place;
}

// An event's records, numbered, and how many of them are done.
struct IpcEvent {
  std::atomic<uint64_t> recorded;
  std::atomic<uint64_t> done;

  bool IsDone(uint64_t number) const { return done.load(std::memory_order_acquire) >= number; }
  void Finish(uint64_t number);
};

constexpr uint64_t kIpcEventBytes = uint64_t{1} << 20;

// This process's file: an open descriptor, which the caller closes; -1: it can't be made. Fills
// `place` but for the offset and the size.
int OpenOwnIpcFile(IpcPlace* place);
// That of another process, or -1.
int OpenIpcFile(const IpcPlace& place);
// A file's states of events, mapped for good; null: they can't be.
IpcEvent* MapIpcEvents(const IpcPlace& place, int file);

bool IsRunning(int32_t process);

// A descriptor for the time of one call.
struct OpenFile {
  explicit OpenFile(int file) : file(file) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file >= 0) close(file);
  }
  int file;
};

}  // namespace graphkit::soft
