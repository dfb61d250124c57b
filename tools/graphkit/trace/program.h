// The traced program: what its file says, running it, and what the tracer says inside it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graphkit {

// An executable's use of CUDA: read from the file, without running it.
struct ElfFacts {
  bool is_elf = false;              // a 64-bit ELF file of this byte order
  std::vector<std::string> needed;  // sonames
  bool has_device_code = false;     // a .nv_fatbin section
  bool has_symbols = false;         // a .symtab section: it isn't stripped
  bool is_static = false;           // no dynamic section: no loader looks at it
  std::string loader;               // that it names; empty: none
  uint64_t tls_bytes = 0;           // thread-local storage, with what aligning it may take
  bool operator==(const ElfFacts&) const = default;

  bool Needs(const std::string& prefix) const;  // a library whose soname begins so
};

ElfFacts ReadElf(const std::string& path);

// With a library in LD_AUDIT the loader has laid out the thread-local storage of threads before it
// sees the libraries that a program starts with, and these must find room in a reserve that is
// small (glibc: "cannot allocate memory in static TLS block"). Bytes that they need, those of
// LD_PRELOAD included, where they are found by `library_path`.
uint64_t StartupTls(const std::string& program, const std::string& library_path);

// GLIBC_TUNABLES with so many bytes more in that reserve; all else in it stays.
std::string TunablesWithTls(const std::string& tunables, uint64_t bytes);

struct ProgramEnd {
  int exit_code = 0;    // of graphkit: the program's own, 128 + n for a signal, 126, 127
  int signal = 0;       // that killed the program
  int start_error = 0;  // errno, when it could not be executed
};

// The file that would be executed, as the shell finds it; empty: there is none.
std::string FindProgram(const std::string& name);

// Runs `words` with these environment variables set beside ours, and waits for its end. Its
// standard streams are ours, signals sent to us go to it, and its end is our end.
ProgramEnd RunProgram(const std::vector<std::string>& words,
                      const std::vector<std::pair<std::string, std::string>>& environment);

// The tracer's messages inside traced processes, heard by `graphkit trace` too: their stderr may
// lead elsewhere.
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
