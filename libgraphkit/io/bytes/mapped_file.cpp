#include "libgraphkit/io/bytes/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace graphkit {
namespace {

Error SystemError(const std::string& path, const char* verb) {
  return {.message = std::string("cannot ") + verb + ": " + std::strerror(errno), .file = path};
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  std::string all;
  std::string chunk(1 << 16, '\0');
  for (;;) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "read");
    if (got == 0) return all;
    all.append(chunk, 0, static_cast<size_t>(got));
  }
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  if (path == "-") return From(STDIN_FILENO, path);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, "open");
  Result<MappedFile> file = From(fd, path);
  close(fd);
  return file;
}

Result<MappedFile> MappedFile::From(int fd, const std::string& path) {
  MappedFile file;
  struct stat info {};
  if (fstat(fd, &info) != 0) return SystemError(path, "read");
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) {
      file.map_ = static_cast<const char*>(map);
      file.size_ = size;
      return file;
    }
  }
  Result<std::string> copy = ReadAll(fd, path);
  if (!copy) return copy.error();
  file.copy_ = std::move(*copy);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      copy_(std::move(other.copy_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  std::swap(copy_, other.copy_);
  return *this;
}

MappedFile::~MappedFile() {
  if (map_) munmap(const_cast<char*>(map_), size_);
}

}  // namespace graphkit
