#include "libgraphkit/io/bytes/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "libgraphkit/temporary_name.h"

namespace graphkit {
namespace {

Error SystemError(const std::string& what) {
  return {.message = what + ": " + std::strerror(errno), .kind = Error::Kind::kSystem};
}

// The names of files that aren't whole yet, where a signal handler finds them. With more at once
// than there are places, the last ones stay when the process is interrupted.
std::array<std::atomic<const char*>, 16> unfinished_files;

void Exchange(const char* from, const char* to) {
  for (std::atomic<const char*>& place : unfinished_files) {
    const char* expected = from;
    if (place.compare_exchange_strong(expected, to)) return;
  }
}

Result<void> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return SystemError("can't write");
    }
  }
  return {};
}

class StdoutSink final : public ByteSink {
 public:
  Result<void> Write(std::string_view bytes) override { return WriteAll(STDOUT_FILENO, bytes); }
  Result<void> Finish() override { return {}; }
};

// Writes beside the file, and takes its name in the end.
class FileSink final : public ByteSink {
 public:
  FileSink(std::string temporary, std::string path)
      : temporary_(std::move(temporary)), path_(std::move(path)) {
    if (!temporary_.empty()) Exchange(nullptr, temporary_.c_str());
  }
  ~FileSink() override {
    if (fd_ >= 0) close(fd_);
    if (temporary_.empty()) return;
    unlink(temporary_.c_str());
    Exchange(temporary_.c_str(), nullptr);
  }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  // Where there is no temporary file (a device, a pipe) the file itself.
  Result<void> Open(std::optional<mode_t> mode) {
    const bool direct = temporary_.empty();
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (direct ? O_TRUNC : O_EXCL | O_NOFOLLOW);
    fd_ = open(direct ? path_.c_str() : temporary_.c_str(), flags, 0666);
    if (fd_ < 0) return SystemError("can't create");
    if (mode) fchmod(fd_, *mode);
    return {};
  }
  Result<void> Write(std::string_view bytes) override { return WriteAll(fd_, bytes); }

  Result<void> Finish() override {
    const int closed = close(fd_);
    fd_ = -1;
    if (closed != 0) return SystemError("can't write");
    if (temporary_.empty()) return {};
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return SystemError("can't replace");
    Exchange(temporary_.c_str(), nullptr);
    temporary_.clear();
    return {};
  }

 private:
  int fd_ = -1;
  std::string temporary_;  // among the unfinished files from before it is there
  std::string path_;
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> sink)
      : sink_(std::move(sink)),
        stream_(ZSTD_createCStream(), ZSTD_freeCStream),
        buffer_(ZSTD_CStreamOutSize()) {}

  Result<void> Write(std::string_view bytes) override { return Compress(bytes, ZSTD_e_continue); }

  Result<void> Finish() override {
    if (Result<void> ended = Compress({}, ZSTD_e_end); !ended) return ended;
    return sink_->Finish();
  }

 private:
  Result<void> Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    size_t remaining = 1;
    while (remaining != 0) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      remaining = ZSTD_compressStream2(stream_.get(), &out, &in, directive);
      if (ZSTD_isError(remaining)) {
        return Error{.message = std::string("can't be compressed: ") + ZSTD_getErrorName(remaining),
                     .kind = Error::Kind::kSystem};
      }
      if (Result<void> written = sink_->Write({buffer_.data(), out.pos}); !written) return written;
      if (directive == ZSTD_e_continue && in.pos == in.size) break;
    }
    return {};
  }

  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<ZSTD_CStream, decltype(&ZSTD_freeCStream)> stream_;
  std::vector<char> buffer_;
};

// Where a link leads; it stays a link.
std::string TargetOf(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         std::free);
  return real ? std::string(real.get()) : path;
}

// Writes where `path` is, with the mode that it has.
Result<std::unique_ptr<ByteSink>> CreatePlainFile(const std::string& path) {
  if (path == "-") return std::unique_ptr<ByteSink>(std::make_unique<StdoutSink>());
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return SystemError("can't write");
  }
  const bool special = exists && !S_ISREG(info.st_mode);
  const std::string target = special ? path : TargetOf(path);
  const std::string temporary = special ? "" : TemporaryName(target);
  auto file = std::make_unique<FileSink>(temporary, target);
  std::optional<mode_t> mode;
  if (exists && !special) mode = info.st_mode & 07777;
  if (const Result<void> opened = file->Open(mode); !opened) return opened.error();
  return std::unique_ptr<ByteSink>(std::move(file));
}

}  // namespace

void RemoveUnfinishedFiles() {
  for (std::atomic<const char*>& place : unfinished_files) {
    if (const char* name = place.exchange(nullptr)) unlink(name);
  }
}

Result<std::unique_ptr<ByteSink>> CreateFile(const std::string& path) {
  Result<std::unique_ptr<ByteSink>> sink = CreatePlainFile(path);
  if (sink && path.ends_with(".zst")) *sink = std::make_unique<ZstdSink>(std::move(*sink));
  return sink;
}

}  // namespace graphkit
