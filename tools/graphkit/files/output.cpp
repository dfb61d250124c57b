#include "tools/graphkit/files/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/graphkit/cli/talk.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

Error SystemError(const std::string& what, const std::string& path, int error) {
  Error result{.message = what + ": " + std::strerror(error), .file = path};
  result.kind = Error::Kind::kSystem;
  return result;
}

// The mode that open(2) would give, which mkstemp doesn't.
mode_t ModeFor(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

Result<void> WriteStream(const std::string& path, std::ostream& out,
                         const std::function<void(std::ostream&)>& write) {
  errno = 0;
  write(out);
  out.flush();
  if (!out) return SystemError("can't write", path, errno != 0 ? errno : EIO);
  return {};
}

Result<void> WriteWhole(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return SystemError("can't create", path, errno);
  fchmod(fd, ModeFor(path));
  close(fd);
  std::ofstream out(temporary, std::ios::binary);
  Result<void> written = WriteStream(path, out, write);
  out.close();
  if (written && rename(temporary.c_str(), path.c_str()) != 0) {
    written = SystemError("can't replace", path, errno);
  }
  if (!written) unlink(temporary.c_str());
  return written;
}

}  // namespace

Result<void> WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path == "-") return WriteStream("standard output", std::cout, write);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return SystemError("can't write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    std::ofstream out(path, std::ios::binary);
    return WriteStream(path, out, write);
  }
  const fs::path target = fs::is_symlink(fs::symlink_status(path, error))
                              ? fs::weakly_canonical(path, error)
                              : fs::path(path);
  return WriteWhole(target.string(), write);
}

TextStyle StyleFor(const std::string& output, size_t top) {
  TextStyle style{.ascii = !LocaleIsUtf8(), .top = top};
  if (output != "-") return style;
  const auto width = static_cast<size_t>(TerminalWidth(0));
  if (width > 0) style.width = width;
  if (!StdoutIsTerminal()) return style;
  style.colour = ColourOnStdout();
  style.table = style.width;
  return style;
}

}  // namespace graphkit
