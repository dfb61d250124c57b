// The host memory behind device addresses: it costs a page only where bytes differ from what was
// there.
//
//   fill of whole pages   the pages are mapped anew: to nothing for 0, else to a file that holds
//   the
//                         word again and again, copied at a write
//   copy                  a page of one word, or one not yet touched, is such a fill; what the
//                         target holds already isn't written
//   anything else         is written, and counted, up to GRAPHKIT_SOFT_MEMORY (as GiB, MiB or
//   bytes;
//                         without it what the machine has to spare)
//
// Bytes that a kernel would have written (contents.h) are copied as 0; with
// GRAPHKIT_SOFT_DATA=stale as what lies there. With GRAPHKIT_SOFT_DATA=none device memory keeps no
// bytes at all and reads as 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "plugins/soft_cuda/ground/contents.h"
#include "plugins/soft_cuda/ground/page_states.h"

namespace graphkit::soft {

// The bytes that memory holds: GRAPHKIT_SOFT_DATA.
enum class Data : uint8_t { kAll, kStale, kNone };

class Backing {
 public:
  Backing();

  // Device addresses. Of a private range the pages may be mapped anew; a shared one has memory that
  // lies elsewhere as well.
  void Own(uint64_t begin, uint64_t size, bool is_private);
  void Disown(uint64_t begin);
  // Makes a part of a range accessible; nothing is at first.
  void Open(uint64_t begin, uint64_t size);
  void Close(uint64_t begin, uint64_t size);
  // Where memory lies that shared ranges are mapped to.
  void AddShared(uint64_t begin, uint64_t size);
  void DropShared(uint64_t begin);

  // Lays a file's bytes at whole pages of a private range, which is a shared one there from then
  // on.
  bool Lay(uint64_t begin, uint64_t size, int file, uint64_t offset);
  // The pages are the range's own again, and read as 0.
  void TakeUp(uint64_t begin, uint64_t size);
  // Moves the pages of a block into a file, unless they lie in it already. The block's begin goes
  // to the offset.
  bool Share(uint64_t begin, uint64_t size, int file, uint64_t offset);

  // Sets bytes to a word again and again: each byte at address a is that of a % 4.
  void Fill(uint64_t to, uint64_t bytes, uint32_t word);
  void Copy(uint64_t to, uint64_t from, uint64_t bytes);
  // Takes the memory from behind whole pages of a private range, which read as 0 then.
  void Clear(uint64_t begin, uint64_t size);
  // A kernel got memory.
  void Pass(std::span<const Passed> memory);
  // A block was freed.
  void ForgetContents(uint64_t begin, uint64_t size);

  // True if a new block could be written as a whole. Memory may stay unwritten for ever, so this is
  // checked only once half of the limit is in use.
  bool HasRoom(uint64_t bytes);
  // True if a write failed since the last call: memory is used up.
  bool TakeFailure();
  // True if a fill or a copy ever met an address where nothing is mapped: it was left out.
  bool met_unmapped();
  void ForgetUnmapped();
  uint64_t limit() const { return limit_; }
  bool keeps_bytes() const { return data_ != Data::kNone; }
  bool follows_kernels() const { return data_ == Data::kAll; }

 private:
  struct Range {
    uint64_t end;
    bool is_private;
  };
  struct Pattern {
    void* place = nullptr;  // a private mapping, never touched: what it is copied from
    uint64_t bytes = 0;     // so many hold the word
  };
  struct Mapped {
    uint64_t end;
    uint32_t word;
  };
  struct Run {  // of pages to come that hold one word
    uint64_t begin = 0;
    uint64_t size = 0;
    uint32_t word = 0;
  };

  const Range* RangeOf(uint64_t address) const;
  void SetPrivate(uint64_t begin, uint64_t end, bool is_private);
  bool Move(uint64_t begin, uint64_t size, int file, uint64_t offset);
  bool IsPrivate(uint64_t address, uint64_t bytes) const;
  bool CanTouch(uint64_t address, uint64_t bytes);
  bool IsBlank(uint64_t page);
  uint32_t BaseWord(uint64_t page) const;
  bool IsFilled(uint64_t page, uint32_t word);
  void FillPages(uint64_t begin, uint64_t size, uint32_t word);
  bool MapWord(uint64_t begin, uint64_t size, uint32_t word);
  bool MapNothing(uint64_t begin, uint64_t size);
  void Forget(uint64_t begin, uint64_t size);
  void* PatternOf(uint32_t word, uint64_t bytes);
  void Write(uint64_t to, uint64_t bytes, uint32_t word);
  void WriteBytes(uint64_t to, uint64_t from, uint64_t bytes);
  void WritePlain(uint64_t to, uint64_t from, uint64_t& plain);
  bool Reserve(uint64_t to, uint64_t bytes);
  void CountShared();
  bool HasPatterns(uint64_t begin, uint64_t size) const;
  bool HaveOneBase(uint64_t begin, uint64_t size) const;
  void GiveBack(uint64_t begin, uint64_t size);
  bool WordOf(uint64_t page, bool known, uint32_t* word);
  void CopyPages(uint64_t to, uint64_t from, uint64_t size);
  void Flush(Run& run);
  void CopyBytes(uint64_t to, uint64_t from, uint64_t bytes);
  void FillBytes(uint64_t to, uint64_t bytes, uint32_t word);

  std::mutex mutex_;
  PageStates pages_;
  std::map<uint64_t, Range> ranges_;      // by begin
  std::map<uint64_t, uint64_t> open_;     // begin → end; none touches the next
  std::map<uint64_t, Mapped> mapped_;     // to patterns, by begin
  std::map<uint32_t, Pattern> patterns_;  // by word
  uint64_t pattern_bytes_ = 0;
  uint64_t limit_ = ~uint64_t{0};
  uint64_t written_ = 0;  // bytes of pages of private ranges that got memory of their own
  std::array<uint64_t, 256> paid_{};     // pages of private ranges that have memory of their own
  std::map<uint64_t, uint64_t> shared_;  // begin → size
  uint64_t shared_written_ = 0;          // bytes of it that have memory, or more
  Data data_ = Data::kAll;
  Contents contents_;
  bool failed_ = false;
  bool met_unmapped_ = false;
  bool refused_ = false;  // a block, and stderr says so
};

}  // namespace graphkit::soft
