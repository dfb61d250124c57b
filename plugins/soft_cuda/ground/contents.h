// The bytes of device memory that a program knows. Kernels don't run here, so what lies in memory
// isn't what they would have left there.
//
//   a copy, a fill            its bytes are known from then on
//   an address passed to a    the bytes from there on are unknown until they are written. A
//   kernel's kernel to be written      arguments don't say where they end: the read that asks ends
//   them, the
//                             allocation, or the next object that was written as one
//   an address whose use      the same, unless what is read lies in one object that begins there,
//   isn't known               or that holds the address where no block may begin: an input
//   memory that a library's   its bytes are unknown, exactly
//   call writes
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace graphkit::soft {

// Memory that a kernel got.
struct Passed {
  uint64_t begin;
  uint64_t end;      // of the allocation; `exact`: of what is written
  bool sure = true;  // that it is written
  bool exact = false;
};

class Contents {
 public:
  struct Part {
    uint64_t begin;
    uint64_t end;
    bool operator==(const Part&) const = default;
  };

  void Write(uint64_t begin, uint64_t bytes) { Put(begin, begin + bytes, true); }
  void Pass(const Passed& memory);
  // The memory was freed.
  void Forget(uint64_t begin, uint64_t bytes);
  // In order, apart from each other.
  std::vector<Part> UnknownIn(uint64_t begin, uint64_t bytes) const;

 private:
  struct Written {
    uint64_t end;
    uint64_t object;  // where the object begins that was written as one
    uint64_t time;
    bool known;
  };
  struct Mark {
    uint64_t end = 0;
    uint64_t sure = 0;   // when it was passed to be written; 0: never
    uint64_t maybe = 0;  // when it was passed otherwise
  };

  void Put(uint64_t begin, uint64_t end, bool known);
  void Cut(uint64_t begin, uint64_t end);
  uint64_t PassedBefore(uint64_t begin, uint64_t end) const;
  bool IsInput(uint64_t address, uint64_t begin, uint64_t end) const;
  uint64_t When(uint64_t address, const Mark& mark, uint64_t begin, uint64_t end) const;
  void AddUnknown(uint64_t begin, uint64_t end, uint64_t since, std::vector<Part>& parts) const;

  uint64_t now_ = 0;
  std::map<uint64_t, Written> written_;  // by begin, apart from each other
  std::map<uint64_t, Mark> marks_;       // by address
};

}  // namespace graphkit::soft
