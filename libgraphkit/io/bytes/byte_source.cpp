#include "libgraphkit/io/bytes/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace graphkit {
namespace {

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";  // RFC 8878, 3.1.1
constexpr std::string_view kGzipMagic = "\x1f\x8b\x08";      // RFC 1952, 2.3.1

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : rest_(text) {}

  Result<size_t> Read(std::span<char> buffer) override {
    const size_t count = rest_.copy(buffer.data(), buffer.size());
    rest_.remove_prefix(count);
    return count;
  }
  size_t BytesLeft() const override { return rest_.size(); }

 private:
  std::string_view rest_;
};

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, bool owned, std::atomic<size_t>* read) : fd_(fd), owned_(owned), read_(read) {}
  ~FileSource() override {
    if (owned_) close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<size_t> Read(std::span<char> buffer) override {
    size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t count = read(fd_, buffer.data() + filled, buffer.size() - filled);
      if (count == 0) break;
      if (count > 0) {
        filled += static_cast<size_t>(count);
        if (read_) *read_ += static_cast<size_t>(count);
      } else if (errno != EINTR) {
        return Error{.message = std::string("can't be read: ") + std::strerror(errno),
                     .kind = Error::Kind::kSystem};
      }
    }
    return filled;
  }

  size_t BytesLeft() const override {
    struct stat info {};
    if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    const off_t place = lseek(fd_, 0, SEEK_CUR);
    return place < 0 || place > info.st_size ? 0 : static_cast<size_t>(info.st_size - place);
  }

  int PlainFile() const override { return fd_; }

 private:
  int fd_;
  bool owned_;
  std::atomic<size_t>* read_;
};

// Gives back the bytes that were looked at, then the rest.
class ResumedSource final : public ByteSource {
 public:
  ResumedSource(std::string seen, std::unique_ptr<ByteSource> rest)
      : seen_(std::move(seen)), rest_(std::move(rest)) {}

  Result<size_t> Read(std::span<char> buffer) override {
    const size_t count = std::min(seen_.size(), buffer.size());
    std::copy_n(seen_.begin(), count, buffer.begin());
    seen_.erase(0, count);
    Result<size_t> more = rest_->Read(buffer.subspan(count));
    if (!more) return more;
    return count + *more;
  }

  size_t BytesLeft() const override {
    const size_t rest = rest_->BytesLeft();
    return rest == 0 ? 0 : seen_.size() + rest;
  }
  int PlainFile() const override { return rest_->PlainFile(); }

 private:
  std::string seen_;
  std::unique_ptr<ByteSource> rest_;
};

// A compressed file that ends before its first byte can be known.
Error CutOff() {
  return Error{.message = "it is cut off: its first compressed part isn't whole",
               .hint = "copy or record it again",
               .kind = Error::Kind::kIncomplete};
}

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)),
        stream_(ZSTD_createDStream(), ZSTD_freeDStream),
        compressed_(ZSTD_DStreamInSize()) {}

  Result<size_t> Read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size) {
        Result<size_t> count = source_->Read(compressed_);
        if (!count) return count;
        in_ = {compressed_.data(), *count, 0};
        if (*count == 0 && out.pos == 0 && !begun_) return CutOff();
        if (*count == 0) break;
      }
      const size_t rc = ZSTD_decompressStream(stream_.get(), &out, &in_);
      begun_ = begun_ || out.pos > 0 || rc == 0;
      if (ZSTD_isError(rc)) {
        return Error{.message = std::string("can't be decompressed: ") + ZSTD_getErrorName(rc),
                     .hint = "the zstd file is damaged"};
      }
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::vector<char> compressed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool begun_ = false;  // gave something, or a frame ended
};

// A gzip file, or several one after the other.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), compressed_(size_t{256} * 1024) {
    constexpr int kGzipOnly = 16;  // zlib.h, inflateInit2
    ready_ = inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> Read(std::span<char> buffer) override {
    size_t filled = 0;
    while (ready_ && filled < buffer.size()) {
      if (stream_.avail_in == 0) {
        const Result<size_t> count = source_->Read(compressed_);
        if (!count) return count;
        if (*count == 0 && filled == 0 && !begun_) return CutOff();
        if (*count == 0) break;
        stream_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
        stream_.avail_in = static_cast<uInt>(*count);
      }
      const size_t room = std::min<size_t>(buffer.size() - filled, size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + filled);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      begun_ = begun_ || filled > 0 || status == Z_STREAM_END;
      if (status == Z_STREAM_END) {
        inflateReset(&stream_);
        members_ = true;
      } else if (status == Z_DATA_ERROR && members_ && stream_.total_out == 0) {
        ready_ = false;  // padding behind the last member
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return Error{.message = "can't be decompressed", .hint = "the gzip file is damaged"};
      }
    }
    return filled;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> compressed_;
  z_stream stream_ = {};
  bool ready_ = false;
  bool members_ = false;  // a member was read whole
  bool begun_ = false;    // gave something, or a member ended
};

}  // namespace

std::unique_ptr<ByteSource> OpenMemory(std::string_view text) {
  return std::make_unique<MemorySource>(text);
}

Result<std::unique_ptr<ByteSource>> Decompressed(std::unique_ptr<ByteSource> source) {
  const Result<std::string> magic = Peek(source, kZstdMagic.size());
  if (!magic) return magic.error();
  if (*magic == kZstdMagic) source = std::make_unique<ZstdSource>(std::move(source));
  if (magic->starts_with(kGzipMagic)) source = std::make_unique<GzipSource>(std::move(source));
  return source;
}

Result<std::string> Peek(std::unique_ptr<ByteSource>& source, size_t count) {
  std::string head(count, '\0');
  const Result<size_t> filled = source->Read(head);
  if (!filled) return filled.error();
  head.resize(*filled);
  source = std::make_unique<ResumedSource>(head, std::move(source));
  return head;
}

Result<std::string> ReadAll(ByteSource& source, size_t padding) {
  std::string all;
  constexpr size_t kFirst = size_t{1} << 20;
  for (size_t filled = 0;;) {
    all.resize(std::max(kFirst, filled + filled / 2) + padding);
    const size_t room = all.size() - padding - filled;
    const Result<size_t> count = source.Read({all.data() + filled, room});
    if (!count) return count.error();
    filled += *count;
    if (*count == room) continue;
    all.resize(filled);
    all.reserve(filled + padding);
    return all;
  }
}

Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path, std::atomic<size_t>* read) {
  const bool is_stdin = path == "-";
  const int fd = is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Error{.message = std::string("can't be opened: ") + std::strerror(errno),
                 .kind = Error::Kind::kSystem};
  }
  auto file = std::make_unique<FileSource>(fd, !is_stdin, read);
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) return Error{.message = "is a directory"};
  return Decompressed(std::move(file));
}

Result<FileBytes> ReadBytes(ByteSource& source, size_t padding) {
  FileBytes bytes;
  struct stat info {};
  const int fd = padding == 0 ? source.PlainFile() : -1;
  const bool whole = fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0 &&
                     source.BytesLeft() == static_cast<size_t>(info.st_size);
  const size_t size = whole ? static_cast<size_t>(info.st_size) : 0;
  void* map = whole ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (map != MAP_FAILED) {
    bytes.kept = std::shared_ptr<void>(map, [size](void* mapping) { munmap(mapping, size); });
    bytes.text = {static_cast<const char*>(map), size};
    return bytes;
  }
  Result<std::string> copy = ReadAll(source, padding);
  if (!copy) return copy.error();
  const auto kept = std::make_shared<const std::string>(*std::move(copy));
  bytes.kept = kept;
  bytes.text = *kept;
  return bytes;
}

Result<FileBytes> ReadFile(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  Result<FileBytes> bytes = source ? ReadBytes(**source) : Result<FileBytes>(source.error());
  if (!bytes) bytes.error().file = path;
  return bytes;
}

}  // namespace graphkit
