#include "tools/graphkit/trace/mailbox.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

namespace graphkit {

Mailbox::Mailbox() {
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t size =
      sizeof address.sun_family;  // so that the kernel finds a name: "\0" and five digits
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd_, at, size) != 0) return;
  size = sizeof address;
  if (getsockname(fd_, at, &size) != 0) return;
  constexpr size_t kBefore = offsetof(sockaddr_un, sun_path) + 1;
  if (size > kBefore) name_.assign(address.sun_path + 1, size - kBefore);
}

Mailbox::~Mailbox() {
  if (fd_ >= 0) close(fd_);
}

std::vector<std::string> Mailbox::Take() {
  std::vector<std::string> lines;
  char line[1024];
  if (name_.empty()) return lines;
  for (ssize_t size = 0; (size = recv(fd_, line, sizeof line, 0)) >= 0;) {
    lines.emplace_back(line, static_cast<size_t>(size));
  }
  return lines;
}

}  // namespace graphkit
