#include "plugins/soft_cuda/libraries/nccl/meeting.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace graphkit::soft::nccl {
namespace {

constexpr auto kPause = std::chrono::microseconds(500);
constexpr auto kPatience = std::chrono::seconds(10);  // before stderr hears of it

// Never smaller: others may have it mapped.
bool Grow(int file, off_t bytes) {
  struct stat now = {};
  return fstat(file, &now) == 0 && (now.st_size >= bytes || ftruncate(file, bytes) == 0);
}

}  // namespace

// A new file is all zeros: no rank has spoken.
std::unique_ptr<Meeting> Meeting::Join(const std::string& name, uint32_t ranks, uint32_t rank,
                                       Entry* why) {
  const size_t bytes = sizeof(Room) + sizeof(Place) * ranks;
  *why = Entry::kNoMemory;
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0) return nullptr;
  const bool sized = Grow(file, static_cast<off_t>(bytes));
  void* at = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (at == MAP_FAILED) return nullptr;
  auto* room = static_cast<Room*>(at);
  std::unique_ptr<Meeting> meeting(new Meeting(name, room, bytes, ranks, rank));
  uint32_t before = 0;
  const bool first = room->ranks.compare_exchange_strong(before, ranks);
  *why = !first && before != ranks             ? Entry::kOtherRanks
         : room->place(rank).round.load() != 0 ? Entry::kTaken
                                               : Entry::kJoined;
  return *why == Entry::kJoined ? std::move(meeting) : nullptr;
}

Meeting::~Meeting() { munmap(room_, bytes_); }

void Meeting::Say(const Words& words) {
  Place& own = room_->place(rank_);
  own.words[++round_ % 2] = words;
  own.round.store(round_, std::memory_order_release);
}

void Meeting::WaitFor(uint32_t rank, const char* call) const {
  const auto begin = std::chrono::steady_clock::now();
  bool said = false;
  while (room_->place(rank).round.load(std::memory_order_acquire) < round_) {
    std::this_thread::sleep_for(kPause);
    if (said || std::chrono::steady_clock::now() - begin < kPatience) continue;
    said = true;
    std::fprintf(stderr,
                 "graphkit: %s of rank %u waits for rank %u of %u: it must be on this machine\n",
                 call, rank_, rank, ranks_);
  }
}

std::vector<Words> Meeting::Hear(const char* call) {
  std::vector<Words> all;
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    WaitFor(rank, call);
    all.push_back(room_->place(rank).words[round_ % 2]);
  }
  if (round_ == 1) shm_unlink(name_.c_str());
  return all;
}

}  // namespace graphkit::soft::nccl
