#include "tools/graphkit/files/output.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "libgraphkit/units.h"
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

// To a person at a terminal; a job's log has it from the commands that say so.
void SayWritten(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (!error && isatty(STDERR_FILENO) != 0)
    PrintNote("wrote " + path + " (" + FormatBytes(size) + ")");
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
  Result<void> written = WriteWhole(target.string(), write);
  if (written) SayWritten(path);
  return written;
}

Result<void> ShowFile(const std::string& path) {
  if (path == "-") {
    return Error{.message = "--open shows a file, and the output goes to stdout",
                 .hint = "name one with -o FILE"};
  }
  const char* opener = std::getenv("BROWSER");
  const pid_t child = fork();
  if (child < 0) return SystemError("can't open", path, errno);
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const char* program = opener && *opener ? opener : "xdg-open";
    execlp(program, program, path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  Error error{.message = "was written, and no program opened it",
              .hint = "open it yourself, or name a program in BROWSER",
              .file = path};
  error.kind = Error::Kind::kSystem;
  return error;
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
