// Any bytes, read as a plan, give a plan or an error. One that fits a trace can be validated and
// replayed, and one that is verified executes clean: the verdict isn't blind.
#include <array>
#include <cstdlib>
#include <string>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/read_ran.h"
#include "tests/tools/replay/host_executor.h"

namespace {

using namespace graphkit;

Ran Read(const std::string& name) {
  Result<Ran> read = ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/" + name);
  if (!read) std::abort();
  return *std::move(read);
}

struct Sample {
  explicit Sample(const std::string& name) : trace(Read(name)) {}

  Ran trace;
  Facts facts{trace};
};

void Use(const Facts& facts, const PlannedMemory& plan) {
  if (!PlanFits(facts, plan)) return;
  const ReplayOptions options{.verify = true, .config = {}, .capacity = 64 << 20};
  const PolicyReplay replay = ReplayPlan(facts, plan, options);
  if (replay.verified && !ExecutesClean(facts, replay, 2)) std::abort();
  // A plan may give a block more bytes than it needs: then it is held to more.
  const bool safe = VerifyPlan(facts, plan, MarkerRule::kLastUse).empty();
  if (safe && replay.destroyed.empty() && !replay.verified) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::array<Sample, 3> samples = {
      Sample("fork_join.json"), Sample("inference_server.json"), Sample("programmatic.json")};
  const auto plan = ParsePlan(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!plan) return 0;
  for (const Sample& sample : samples) Use(sample.facts, *plan);
  return 0;
}
