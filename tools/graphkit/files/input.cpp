#include "tools/graphkit/files/input.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

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

Result<Ran> Import(const std::string& path, std::atomic<size_t>* read = nullptr) {
  Result<Imported> imported = ImportFile(path, nullptr, read);
  if (!imported) return imported.error();
  return Resolve(std::move(imported->trace));
}

Result<Ran> WithMemory(Result<Ran> trace, const std::string& path) {
  if (!trace) return trace;
  const std::string nothing = NothingToPlace(*trace);
  if (nothing.empty()) return trace;
  const bool snapshot = trace->graphs.empty() && !trace->segments.empty();
  return Error{
      .message = "nothing to judge: " + nothing,
      .hint = snapshot ? "graphkit replay --against-recorded and --setting replay a memory snapshot"
                       : "graphkit analyze lists its contents",
      .file = path,
      .kind = Error::Kind::kIncomplete};
}

}  // namespace

Result<Ran> ReadInput(OpenedFile file) {
  const Progress progress(Reading(file.path));
  Result<Imported> imported = ReadAsTrace(std::move(file));
  if (!imported) return imported.error();
  return Resolve(std::move(imported->trace));
}

Result<Ran> ReadInput(const std::string& path) {
  Progress progress(Reading(path), FileSize(path));
  return Import(path, progress.done());
}

Result<Ran> ReadWithMemory(const std::string& path) { return WithMemory(ReadInput(path), path); }

Result<Ran> ReadWithMemory(OpenedFile file) {
  const std::string path = file.path;
  return WithMemory(ReadInput(std::move(file)), path);
}

Result<Ran> ReadQuietly(const std::string& path) { return Import(path); }

Result<Imported> ReadAs(const std::string& kind, const std::string& path) {
  Progress progress("importing " + (path == "-" ? std::string("standard input") : path),
                    FileSize(path));
  return ImportFile(path, FindFormat(kind), progress.done());
}

Result<void> WriteTraceFile(const Trace& trace, const std::string& path) {
  const Progress progress("writing " + (path == "-" ? std::string("standard output") : path));
  Result<void> written = WriteTrace(trace, path);
  if (written) SayWritten(path);
  return written;
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
