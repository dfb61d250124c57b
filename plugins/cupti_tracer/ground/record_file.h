// Writing a trace from inside the traced process: one record a line, straight into a shared file
// mapping, so that a killed process loses nothing that was recorded. The format is docs/format.md;
// FieldWriter (libgraphkit/io/record/field_writer.h) makes the lines.
//
//     RecordFile file;                 {"schema":"graphkit-trace","version":1,…,"records":[
//     file.Open("trace.json", "soft"); {"type":"stream","id":0,"handle":"0x0","kind":"legacy"},
//     file.Append(line);               …
//     file.Finish({});                 {"type":"end","records":1}]}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libgraphkit/io/record/record_line.h"

namespace graphkit {

// False once a seccomp filter holds for the calling thread that didn't when this library was
// loaded: it may kill the process for opening, allocating or renaming a file.
bool MayUseFiles();

// A trace file being written. Every line that stands in it is whole, but for the last. When there
// is no more space (of the disk, the bound, or `ulimit -f`, whose signal is never raised), all
// further records are dropped and counted; the end record says so. Not thread safe.
//
// No file descriptor is held: the program may close any number, and get it again for a file of its
// own. To grow or to cut the file it is opened by its name, and left alone if another file, or
// none, has that name by then. Some space of the disk is left to others, and where !MayUseFiles()
// the file doesn't grow.
class RecordFile {
 public:
  RecordFile() = default;
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Creates the file, which must not be there yet, and writes the header. `path` is absolute where
  // the process may change its folder. `max_bytes` bounds the file; 0: no bound.
  bool Open(const std::string& path, std::string_view device, uint64_t max_bytes = 0);
  bool is_open() const { return base_ != nullptr; }

  // Gives the file another name; false: why is in errno.
  bool Rename(const std::string& path);

  // At most so many bytes of the file (rounded up to pages) are in this process's memory and not on
  // the disk: what appends more waits. 0, the default: the memory is bounded, without waiting
  // for the disk.
  void SetBuffer(size_t bytes) { buffer_ = bytes; }

  // Writes one record, without its comma. Returns where it stands, or kDropped.
  static constexpr uint64_t kDropped = ~uint64_t{0};
  uint64_t Append(std::string_view record);

  // The record at a place that Append returned; valid until the next Append.
  std::string_view Read(uint64_t place) const;

  // Writes the end record and cuts the file to its length; what can't be cut off (it has another
  // name now) becomes blanks.
  bool Finish(const RecordCounts& counts);

  // For a handler of SIGBUS: where `address` is in the mapping, the file was cut short.
  // Memory of the process takes the place of what is missing, so that the program goes on; further
  // records are dropped.
  bool Cover(const void* address);

  // Leaves the file as it is, to another that has it (a forked child's copy of its parent's).
  void Abandon();

  uint64_t records() const { return records_; }
  uint64_t dropped() const { return dropped_; }
  const std::string& error() const { return error_; }  // why Open or Append failed; may be empty
  bool limited() const { return limited_; }      // it failed at a bound, not for lack of space
  bool cut_short() const { return cut_short_; }  // by another program: it can't end as it should

 private:
  int Reopen();
  bool Map(size_t bytes, int fd);
  bool GrowFile(size_t needed);
  bool Allocate(size_t needed, size_t limit, size_t target);
  void WriteLine(std::string_view record, std::string_view ending);
  bool Populate(size_t until);
  void WriteEnd(const RecordCounts& counts);
  void LetGo();
  bool Fail(std::string_view what, int error = 0);

  std::string path_;
  uint64_t device_ = 0;  // that the file is on
  uint64_t inode_ = 0;
  char* base_ = nullptr;
  size_t mapped_ = 0;     // bytes of address space
  size_t allocated_ = 0;  // bytes of the file
  size_t size_ = 0;       // bytes written
  size_t populated_ = 0;  // bytes that have pages, as far as is known
  size_t let_go_ = 0;     // bytes at the beginning that memory needn't hold
  size_t buffer_ = 0;
  uint64_t max_bytes_ = 0;
  bool limited_ = false;
  volatile bool cut_short_ = false;
  uint64_t records_ = 0;
  uint64_t dropped_ = 0;
  std::string error_;
};

}  // namespace graphkit
