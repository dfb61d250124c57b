#include "tools/graphkit/cli/old_spellings.h"

namespace graphkit {

namespace {

struct OldSpelling {
  const char* command;
  const char* option;
  const char* now;
};

// One row a line.
// clang-format off
constexpr OldSpelling kOldSpellings[] = {
    {"analyze", "--coverage", "graphkit coverage TRACE"},
    {"check", "--max-deferred", "--limit max-deferred=SIZE"},
    {"check", "--max-exec-bytes", "--limit max-exec-bytes=SIZE"},
    {"check", "--max-idle", "--limit max-idle=SIZE"},
    {"check", "--max-leaks", "--limit max-leaks=N"},
    {"check", "--max-peak", "--limit max-peak=SIZE"},
    {"check", "--max-reserved-over-allocated", "--limit max-reserved-over-allocated=RATIO"},
    {"check", "--min-coverage", "--limit min-coverage=PERCENT"},
    {"dot", "--critical-path", "--show critical-path"},
    {"dot", "--depth", "--focus NODE,N"},
    {"dot", "--rank", "--layout"},
    {"export", "--time", "--clock"},
    {"import", "--report", "graphkit merge FILE… --report FILE"},
    {"pipeline", "", "graphkit launch-order TRACE"},
    {"pipeline", "--delay-weight-grads", "--schedule 1f1b,delay-weight-grads"},
    {"pipeline", "--layers-per-chunk", "--layers N,…"},
    {"pipeline", "--map", "shown with --rank"},
    {"pipeline", "--order", "--schedule \"1 -1 …\""},
    {"pipeline", "--output-bytes", "\"output\" in a file, --layers FILE"},
    {"pipeline", "--overlap-moe", "--schedule 1f1b,overlap-moe"},
    {"pipeline", "--saves-output", "\"saves_output\" in a file, --layers FILE"},
    {"plan", "--at", "graphkit borrow TRACE --node NODE"},
    {"plan", "--borrow", "graphkit borrow TRACE"},
    {"plan", "--trade", "graphkit trade TRACE"},
    {"replay", "--against-recorded", "graphkit predict FILE"},
    {"replay", "--execute", "graphkit execute TRACE --device host|soft|cuda"},
    {"replay", "--orders", "graphkit execute TRACE --orders N"},
    {"replay", "--plan", "--allocator PLAN.json"},
    {"replay", "--seed", "graphkit execute TRACE --seed N"},
    {"replay", "--time", "\"seconds\" in --format json"},
    {"replay", "--timeline", "--format timeline -o FILE"},
    {"replay", "--what-if", "graphkit what-if SNAPSHOT SETTING"},
    {"report", "--policy", "--allocator"},
};
// clang-format on

}  // namespace

std::optional<Error> NewSpelling(const std::string& command, const std::string& option) {
  for (const OldSpelling& old : kOldSpellings) {
    if (command != old.command || option != old.option) continue;
    const std::string was = option.empty() ? command + " TRACE" : command + " " + option;
    return Error{.message = was + " is now " + old.now};
  }
  return std::nullopt;
}

}  // namespace graphkit
