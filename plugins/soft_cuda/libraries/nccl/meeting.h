// Where the ranks of a communicator meet: shared memory, by name, of the processes of one machine.
// Each round every rank says a few numbers, and then hears those of all.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace graphkit::soft::nccl {

using Words = std::array<int64_t, 2>;

enum class Entry { kJoined, kNoMemory, kOtherRanks, kTaken };  // of what Join may find there

class Meeting {
 public:
  // Joins the meeting of this name as one of its ranks; `why` says how that went.
  static std::unique_ptr<Meeting> Join(const std::string& name, uint32_t ranks, uint32_t rank,
                                       Entry* why);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // One round. Hear waits for all ranks; the first time, the name is given up then: nothing is
  // left behind but by ranks that die before. Says on stderr what it waits for after ten seconds.
  void Say(const Words& words);
  std::vector<Words> Hear(const char* call);

 private:
  struct Place {
    std::atomic<uint64_t> round;  // the last that this rank has spoken in; 0: none
    Words words[2];               // of even and odd rounds: no rank is more than one ahead
  };
  struct alignas(64) Room {  // followed by a place for each rank
    std::atomic<uint32_t> ranks;
    Place& place(uint32_t rank) { return reinterpret_cast<Place*>(this + 1)[rank]; }
  };

  Meeting(std::string name, Room* room, size_t bytes, uint32_t ranks, uint32_t rank)
      : name_(std::move(name)), room_(room), bytes_(bytes), ranks_(ranks), rank_(rank) {}
  void WaitFor(uint32_t rank, const char* call) const;

  std::string name_;
  Room* room_;
  size_t bytes_;
  uint32_t ranks_, rank_;
  uint64_t round_ = 0;
};

}  // namespace graphkit::soft::nccl
