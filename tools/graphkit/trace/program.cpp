#include "tools/graphkit/trace/program.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include "tools/graphkit/child.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

// Signals that people and schedulers send to end or to steer a program.
constexpr std::array kForwarded = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                   SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

volatile sig_atomic_t running_program = 0;

// A signal from the terminal goes to the program's whole process group, so to the program already.
void Forward(int signal, siginfo_t* info, void*) {
  if (running_program != 0 && info->si_code != SI_KERNEL) kill(running_program, signal);
}

sigset_t ForwardedSet() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : kForwarded) sigaddset(&set, signal);
  return set;
}

void ForwardSignals() {
  struct sigaction action {};
  action.sa_sigaction = Forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int signal : kForwarded) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

[[noreturn]] void BecomeProgram(const std::vector<std::string>& words,
                                const std::vector<std::pair<std::string, std::string>>& environment,
                                const sigset_t& mask, int error_pipe) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(argv[0], argv.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(kExitNotFound);
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/bin:/usr/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "";
}

ProgramEnd RunProgram(const std::vector<std::string>& words,
                      const std::vector<std::pair<std::string, std::string>>& environment) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {.exit_code = kExitTrace, .start_error = errno};
  // A signal that comes before the program runs waits until it can be passed on.
  sigset_t set = ForwardedSet(), old;
  sigprocmask(SIG_BLOCK, &set, &old);
  const pid_t program = fork();
  if (program == 0) BecomeProgram(words, environment, old, pipe_ends[1]);
  const int fork_error = errno;
  close(pipe_ends[1]);
  if (program < 0) {
    close(pipe_ends[0]);
    sigprocmask(SIG_SETMASK, &old, nullptr);
    return {.exit_code = kExitTrace, .start_error = fork_error};
  }
  running_program = program;
  ForwardSignals();
  sigprocmask(SIG_SETMASK, &old, nullptr);
  int error = 0;
  ssize_t got = 0;
  while ((got = read(pipe_ends[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  close(pipe_ends[0]);
  const int status = WaitFor(program);
  running_program = 0;
  if (got == sizeof error) {
    const bool missing = error == ENOENT || error == ENOTDIR;
    return {.exit_code = missing ? kExitNotFound : kExitNotExecutable, .start_error = error};
  }
  if (WIFSIGNALED(status)) {
    return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return {.exit_code = WEXITSTATUS(status)};
}

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
