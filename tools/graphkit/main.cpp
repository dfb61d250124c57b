// The command line: parses, hands over to one subcommand, ends with its exit code.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>

#include "libgraphkit/io/bytes/byte_sink.h"
#include "tools/graphkit/cli/help_formatter.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/separator.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/doctor/inventory.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct Command {
  const char* group;
  void (*add)(CLI::App& app, int& exit_code);
};
#define GRAPHKIT_ROW(name, group) {group, Add##name##Command},
constexpr Command kCommands[] = {GRAPHKIT_COMMANDS(GRAPHKIT_ROW)};
#undef GRAPHKIT_ROW

void AddCommands(CLI::App& app, int& exit_code) {
  for (const auto& [group, add] : kCommands) {
    add(app, exit_code);
    app.get_subcommands([](const CLI::App*) { return true; }).back()->group(group);
  }
}

void SetUp(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("-V,--version", VersionText,
                       "Print the versions of graphkit and its format");
  app.require_subcommand(1);
  SetExamples(app, {"graphkit snapshot.pickle                # summarize any file",
                    "graphkit before.json after.json         # compare two files",
                    "graphkit trace -o trace.json ./app      # record the captures of ./app",
                    "graphkit analyze trace.json             # reuse opportunities, leaks, hazards",
                    "graphkit dot trace.json -o capture.svg  # see the capture"});
}

int Parse(CLI::App& app, int argc, char** argv, const int& exit_code) {
  const std::vector<std::string> args = WithSubcommand(app, {argv + 1, argv + argc});
  if (args.empty()) {
    std::cerr << app.help();
    return kExitBad;
  }
  if (const auto error = CheckSubcommand(app, args)) return PrintError(*error);
  try {
    std::vector<std::string> words = args;
    HideSeparator(words);
    JoinLaunch(words);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::Success& shown) {  // --help, --version
    return app.exit(shown);
  } catch (const CLI::ParseError& error) {
    const int code = PrintError(DescribeParseError(app, error));
    return args.front() == "trace" ? kExitTrace : code;  // the other codes are the program's
  }
  return exit_code;
}

// Freed memory is kept for the next allocation, by any thread: a large trace allocates and frees
// many arrays, and the first access to memory costs more than to fill it.
void KeepFreedMemory() {
#if defined(__GLIBC__)
  constexpr int kTopPad = 64 << 20;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, kTopPad);
  mallopt(M_ARENA_MAX, 1);
#endif
}

// A file that reaches its limit (ulimit -f) is an error that is said, as a full disk is. Unlike an
// ignored signal a handler ends where another program begins.
void OutliveFileLimit() {
  struct sigaction before {};
  sigaction(SIGXFSZ, nullptr, &before);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  if (before.sa_handler == SIG_DFL) sigaction(SIGXFSZ, &action, nullptr);
}

// Interrupted, nothing is left of a file that isn't whole. nohup stays nohup.
void LeaveNoPartsOfFiles() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    RemoveUnfinishedFiles();
    raise(signal);  // ends the process, as the handler is gone
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
  }
}

// Help and the like write to stdout by themselves: a full disk is said here.
int Flushed(int exit_code) {
  const bool failed = !std::cout;
  std::cout.clear();
  errno = 0;
  if (failed) std::cout << '\n';  // a failed write is repeated, to learn the error
  std::cout.flush();
  if ((!failed && std::cout) || exit_code == kExitBad) return exit_code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return PrintError(Error{.message = "can't write" + why, .file = "standard output"});
}

}  // namespace

}  // namespace graphkit

int main(int argc, char** argv) {
  using namespace graphkit;
  KeepFreedMemory();
  OutliveFileLimit();
  LeaveNoPartsOfFiles();
  try {
    CLI::App app("Inspect what CUDA graphs capture, what memory they keep, and what may share it.",
                 "graphkit");
    SetUp(app);
    int exit_code = kExitOk;
    AddCommands(app, exit_code);
    return Flushed(Parse(app, argc, argv, exit_code));
  } catch (const std::bad_alloc&) {
    PrintError("out of memory; use a machine with more, or trace less");
  } catch (const std::exception& error) {
    PrintError(std::string("unexpected: ") + error.what());
  }
  return kExitBad;
}
