#include "tools/graphkit/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "tools/graphkit/terminal/progress.h"

namespace graphkit {

namespace {

using Clock = std::chrono::steady_clock;

void WriteAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<size_t>(written);
  }
}

// The work of the child, its own output going nowhere; `fd` leads to the parent.
using ChildWork = std::function<void(int fd)>;

[[noreturn]] void BeChild(int fd, const ChildWork& work) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  work(fd);
  _exit(0);  // without the parent's exit handlers
}

int MillisecondsLeft(std::optional<Clock::time_point> end) {
  if (!end) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*end - Clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

// Reads to the end of the pipe; false when the time is over first.
bool ReadUntil(int fd, std::optional<Clock::time_point> end, std::string& text) {
  char buffer[65536];
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, MillisecondsLeft(end));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, static_cast<size_t>(count));
  }
}

ChildAnswer AnswerOf(const ChildWork& work, const ChildOptions& options) {
  ChildAnswer answer;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.started = false};
  const pid_t child = fork();
  if (child == 0) BeChild(ends[1], work);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {.started = false};
  }
  std::optional<Progress> progress;
  if (!options.doing.empty()) progress.emplace(options.doing);
  std::optional<Clock::time_point> end;
  if (options.limit) end = Clock::now() + *options.limit;
  answer.late = !ReadUntil(ends[0], end, answer.text);
  close(ends[0]);
  if (answer.late) kill(child, SIGKILL);
  const int status = WaitFor(child);
  if (!answer.late && WIFSIGNALED(status)) answer.signal = WTERMSIG(status);
  return answer;
}

}  // namespace

std::string ChildAnswer::Failure() const {
  if (!started) return "couldn't be started";
  if (late) return "didn't answer in time";
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

int WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

ChildAnswer RunInChild(const std::function<std::string()>& work, const ChildOptions& options) {
  return AnswerOf([&work](int fd) { WriteAll(fd, work()); }, options);
}

ChildAnswer OutputOf(const std::vector<std::string>& words, const ChildOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return AnswerOf(
      [&arguments](int fd) {
        const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing >= 0) dup2(nothing, STDIN_FILENO);
        dup2(fd, STDOUT_FILENO);
        execvp(arguments[0], arguments.data());
      },
      options);
}

}  // namespace graphkit
