// What the tracer says inside traced processes, heard by `graphkit trace` too: their stderr may
// lead elsewhere.
#pragma once

#include <string>
#include <vector>

namespace graphkit {

class Mailbox {
 public:
  // Where there are no such sockets the name is empty, and nothing comes.
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // For GRAPHKIT_TRACE_TELL: of an abstract Unix socket, which takes one line a datagram.
  const std::string& name() const { return name_; }

  // The lines that have come since the last call.
  std::vector<std::string> Take();

 private:
  int fd_ = -1;
  std::string name_;
};

}  // namespace graphkit
