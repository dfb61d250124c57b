// Writing a trace from inside the traced process: one record a line, straight into a shared file
// mapping, so that a killed process loses nothing that was recorded. Standard library and model
// only: this is loaded into other people's programs. The format is docs/format.md; FieldWriter
// makes the lines.
//
//     RecordFile file;                 {"schema":"graphkit-trace","version":1,…,"records":[
//     file.Open("trace.json", "soft"); {"type":"stream","id":0,"handle":"0x0","kind":"legacy"},
//     file.Append(line);               …
//     file.Finish({});                 {"type":"end","records":1}]}
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace graphkit {

// Builds one record in a buffer that is reused from record to record.
class RecordLine {
 public:
  // {"type":"<type>"
  [[gnu::always_inline]] void Start(std::string_view type) {
    size_ = 0;
    Put("{\"type\":\"");
    Put(type);
    Put("\"");
  }

  // ,"key": and what may stand behind it.
  [[gnu::always_inline]] void Key(std::string_view key) {
    Reserve(key.size() + 4);
    char* at = buffer_.get() + size_;
    *at++ = ',';
    *at++ = '"';
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    *at++ = '"';
    *at++ = ':';
    size_ += key.size() + 4;
  }
  template <std::integral T>
  [[gnu::always_inline]] void Decimal(T value) {
    if constexpr (std::is_signed_v<T>) {
      if (value < 0) Put("-");
      Digits(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
    } else {
      Digits(value);
    }
  }
  void Hexadecimal(uint64_t value) {
    Put("\"0x");
    Reserve(kMostDigits);
    char* at = buffer_.get() + size_;
    int shift = (static_cast<int>(std::bit_width(value | 1)) - 1) / 4 * 4;
    size_ += static_cast<size_t>(shift / 4 + 1);
    for (; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[value >> shift & 15];
    Put("\"");
  }
  // A word that needs no escaping.
  [[gnu::always_inline]] void Word(std::string_view word) {
    Reserve(word.size() + 2);
    char* at = buffer_.get() + size_;
    *at++ = '"';
    std::memcpy(at, word.data(), word.size());
    at[word.size()] = '"';
    size_ += word.size() + 2;
  }
  // An array: each value is followed by a comma, and the bracket takes the place of the last one.
  [[gnu::always_inline]] void Open() { Put("["); }
  [[gnu::always_inline]] void Comma() { Put(","); }
  [[gnu::always_inline]] void Close() {
    if (buffer_[size_ - 1] == ',') --size_;
    Put("]");
  }
  // Any bytes: escaped, and made valid UTF-8.
  void Quoted(std::string_view text);
  [[gnu::always_inline]] void Put(std::string_view text) {
    Reserve(text.size());
    text.copy(buffer_.get() + size_, text.size());  // memcpy takes no null, as an empty one may be
    size_ += text.size();
  }

  // The whole record; valid until the next Start.
  std::string_view Finish() {
    Put("}");
    return {buffer_.get(), size_};
  }

 private:
  [[gnu::always_inline]] void Digits(uint64_t value) {
    Reserve(kMostDigits);
    if (value < 10) {  // most are
      buffer_[size_++] = static_cast<char>('0' + value);
    } else {
      ManyDigits(value);
    }
  }
  void ManyDigits(uint64_t value);
  [[gnu::always_inline]] void Reserve(size_t more) {
    if (__builtin_expect(size_ + more > capacity_, 0)) Grow(more);
  }
  void Grow(size_t more);

  static constexpr size_t kMostDigits = 24;

  std::unique_ptr<char[]> buffer_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// The counts of the `end` record beside that of the records.
struct RecordCounts {
  uint64_t graphs = 0;
  uint64_t nodes = 0;
  uint64_t edges = 0;
  uint64_t blocks = 0;
  uint64_t launches = 0;
  bool operator==(const RecordCounts&) const = default;

  // Calls visit(its key, a count, that of `other`).
  void VisitWith(const RecordCounts& other, auto visit) {
    visit("graphs", graphs, other.graphs);
    visit("nodes", nodes, other.nodes);
    visit("edges", edges, other.edges);
    visit("blocks", blocks, other.blocks);
    visit("launches", launches, other.launches);
  }
};

// A trace file being written. Every line that stands in it is whole, but for the last. When there
// is no more space (of the disk, the bound, or `ulimit -f`, whose signal is never raised), all
// further records are dropped and counted; the end record says so. Not thread safe.
//
// No file descriptor is held: the program may close any number, and get it again for a file of its
// own. To grow or to cut the file it is opened by its name, and left alone if another file, or
// none, has that name by then.
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
