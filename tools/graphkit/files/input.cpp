#include "tools/graphkit/files/input.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/io/files/file_about.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"

namespace graphkit {

std::string WhatIsMissing(const Trace& trace) {
  constexpr size_t kShown = 3;
  const std::vector<std::string> because = IncompleteBecause(trace);
  std::string what;
  for (size_t i = 0; i < std::min(because.size(), kShown); ++i) {
    what += (i == 0 ? "" : ", ") + because[i];
  }
  if (because.size() > kShown) what += " (and " + FormatCount(because.size() - kShown) + " more)";
  return what;
}

size_t FileSize(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<size_t>(size);
}

namespace {

std::string Reading(const std::string& path) {
  return "reading " + (path == "-" ? std::string("standard input") : path);
}

// Says of what is no trace what it is, where that is known.
Result<Imported> Import(const std::string& path, std::atomic<size_t>* read = nullptr) {
  Result<Imported> imported = ImportFile(path, nullptr, read);
  if (imported) return imported;
  const auto about = DescribeFile(path);
  if (!about) return imported;
  return Error{.message = "not a trace, but: " + about->what,
               .hint = "graphkit " + path + " says more",
               .file = path};
}

Result<Trace> TraceOf(Result<Imported> imported) {
  if (!imported) return imported.error();
  return std::move(imported->trace);
}

}  // namespace

Result<Trace> ReadInput(const std::string& path) { return TraceOf(ReadImported(path)); }

Result<Trace> ReadInput(std::unique_ptr<ByteSource> source, const std::string& path) {
  return TraceOf(ReadImported(std::move(source), path));
}

Result<Imported> ReadImported(std::unique_ptr<ByteSource> source, const std::string& path) {
  const Progress progress(Reading(path));
  return ImportSource(std::move(source), path);
}

Result<Imported> ReadImported(const std::string& path) {
  Progress progress(Reading(path), FileSize(path));
  return Import(path, progress.done());
}

Result<Imported> ReadQuietly(const std::string& path) { return Import(path); }

Result<void> HoldsMemory(const Trace& trace, const std::string& path) {
  const std::string nothing = NothingToPlace(trace);
  if (nothing.empty()) return {};
  return Error{.message = "nothing to judge: " + nothing,
               .hint = "graphkit analyze says what it holds",
               .file = path,
               .kind = Error::Kind::kIncomplete};
}

int WarnIncomplete(const Trace& trace, const std::string& path) {
  const std::string missing = WhatIsMissing(trace);
  return missing.empty() ? kExitOk : WarnMissing(missing, path);
}

int WarnMissing(const std::string& what, const std::string& path) {
  PrintWarning((path == "-" ? std::string("the trace") : path) + " is incomplete: " + what);
  return kExitIncomplete;
}

std::string Shown(const NotJoined& left) {
  constexpr size_t kShown = 3;
  std::string line = "not joined (" + FormatCount(left.count) + "): " + left.what + ": ";
  for (size_t i = 0; i < std::min(kShown, left.examples.size()); ++i) {
    line += (i == 0 ? "" : ", ") + left.examples[i];
  }
  return left.count > kShown ? line + ", …" : line;
}

}  // namespace graphkit
