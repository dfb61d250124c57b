#include "tools/graphkit/replay/allocators.h"

#include <algorithm>

#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/replay/recorded.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/replay/user_allocator.h"

namespace graphkit {

namespace {

constexpr const char* kAll = "all";

std::vector<std::string> AllocatorWords() {
  std::vector<std::string> words;
  for (const PolicyInfo& policy : Policies()) words.emplace_back(policy.name);
  words.emplace_back(kAll);
  for (const ModelInfo& model : Models()) words.emplace_back(model.name);
  words.emplace_back(kRecordedName);
  return words;
}

// By its path, as the loader takes it.
bool IsLibrary(const std::string& word) {
  return word.find('/') != std::string::npos && word.find(".so") != std::string::npos;
}

// By its path, or stdin.
bool IsPlan(const std::string& word) {
  return word == "-" || (word.find_first_of("./") != std::string::npos && !IsLibrary(word));
}

std::string CheckAllocator(const std::string& word) {
  if (IsLibrary(word) || IsPlan(word)) return "";
  const std::string_view instead = ReplacementFor(word);
  if (instead.empty()) return CheckWord(word, AllocatorWords());
  return "there is no policy '" + word + "' any more; use " + std::string(instead);
}

Result<PolicyReplay> ReplayPlanFile(const Facts& facts, const std::string& path,
                                    const ReplayOptions& options) {
  const Result<PlannedMemory> plan = ReadPlan(path);
  if (!plan) return plan.error();
  if (const Result<void> fits = PlanFits(facts, *plan); !fits) {
    Error error = fits.error();
    error.file = path;
    return error;
  }
  return ReplayPlan(facts, *plan, options);
}

Result<PolicyReplay> ReplayLibrary(const Facts& facts, const std::string& path,
                                   const ReplayOptions& options) {
  const Result<UserAllocator> allocator = UserAllocator::Load(path);
  if (!allocator) return allocator.error();
  const Result<std::vector<Bytes>> offsets = PlaceByAllocator(facts, allocator->table());
  if (!offsets) return offsets.error();
  return ReplayOffsets(facts, *offsets, options, allocator->table().name);
}

}  // namespace

void AddAllocators(CLI::App& app, std::vector<std::string>& words) {
  app.add_option("--allocator", words, "Allocators to replay (default: all policies)")
      ->option_text(JoinWords(AllocatorWords()) + "|PLAN.json|./lib.so,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CheckAllocator);
}

std::vector<PolicyKind> PoliciesIn(const std::vector<std::string>& words) {
  std::vector<PolicyKind> kinds;
  const std::vector<std::string> all = {kAll};
  for (const std::string& word : words.empty() ? all : words) {
    for (const PolicyInfo& policy : Policies()) {
      if (word != kAll && word != policy.name) continue;
      if (std::ranges::find(kinds, policy.kind) == kinds.end()) kinds.push_back(policy.kind);
    }
  }
  return kinds;
}

Result<std::vector<PolicyReplay>> ReplayAllocators(const Facts& facts,
                                                   const std::vector<std::string>& words,
                                                   const ReplayOptions& options) {
  std::vector<PolicyReplay> replays = ReplayTrace(facts, PoliciesIn(words), options);
  for (const std::string& word : words) {
    if (word == kRecordedName) replays.push_back(ReplayRecorded(facts, options));
    if (const auto model = FindModel(word)) replays.push_back(ReplayModel(facts, *model, options));
    if (!IsLibrary(word) && !IsPlan(word)) continue;
    Result<PolicyReplay> replay = IsLibrary(word) ? ReplayLibrary(facts, word, options)
                                                  : ReplayPlanFile(facts, word, options);
    if (!replay) return replay.error();
    replays.push_back(*std::move(replay));
  }
  return replays;
}

}  // namespace graphkit
