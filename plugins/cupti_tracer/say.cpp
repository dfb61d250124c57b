// The tracer's messages on stderr.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "libgraphkit/printable.h"
#include "plugins/cupti_tracer/ground/record_file.h"
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

sockaddr_un listener;  // an abstract name
socklen_t listener_size = 0;
struct stat first_stderr {};  // no file where there was none

// The program may have closed its stderr, and have a file of its own under the number.
bool StderrIsTheSame() {
  struct stat now {};
  return first_stderr.st_ino != 0 && fstat(STDERR_FILENO, &now) == 0 &&
         now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino;
}

}  // namespace

void PrepareToSay() {
  if (fstat(STDERR_FILENO, &first_stderr) != 0) first_stderr = {};
  const char* name = std::getenv("GRAPHKIT_TRACE_TELL");
  const size_t length = name != nullptr ? std::strlen(name) : 0;
  if (length == 0 || length + 1 > sizeof listener.sun_path) return;
  listener.sun_family = AF_UNIX;
  std::memcpy(listener.sun_path + 1, name, length);
  listener_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

void Say(std::string_view text) {
  const std::string line = "graphkit: " + Printable(text) + "\n";
  const bool said =
      StderrIsTheSame() && write(STDERR_FILENO, line.data(), line.size()) == ssize_t(line.size());
  Tell(said ? std::string(text) : std::string(kUnsaid) + std::string(text));
}

void Tell(std::string_view text) {
  if (listener_size == 0 || !MayUseFiles()) return;
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t sent =
      sendto(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&listener), listener_size);
  close(fd);
}

}  // namespace graphkit
