#include "tools/graphkit/files/input.h"

#include "libgraphkit/io/import/import.h"
#include "tools/graphkit/cli/exit_codes.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"

namespace graphkit {

std::string WhatIsMissing(const Completeness& completeness) {
  std::string what;
  const auto add = [&what](const std::string& reason) {
    what += (what.empty() ? "" : ", ") + reason;
  };
  if (completeness.truncated) add("it ends early (the program was killed, or the file was cut)");
  if (completeness.dropped_records > 0) {
    add("the tracer dropped " + FormatCount(completeness.dropped_records) + " records");
  }
  if (completeness.skipped_lines > 0) {
    add(FormatCount(completeness.skipped_lines) + " lines could not be read");
  }
  if (completeness.notes.size() == 1) add(completeness.notes.front());
  if (completeness.notes.size() > 1) {
    add(completeness.notes.front() + " (and " + FormatCount(completeness.notes.size() - 1) +
        " more)");
  }
  return what;
}

Result<Trace> ReadInput(const std::string& path) {
  const Progress progress("reading " + (path == "-" ? std::string("standard input") : path));
  return ReadQuietly(path);
}

Result<Trace> ReadQuietly(const std::string& path) {
  Result<Imported> imported = ImportFile(path);
  if (!imported) return imported.error();
  return std::move(imported->trace);
}

int WarnIncomplete(const Trace& trace, const std::string& path) {
  if (trace.completeness.complete()) return kExitOk;
  return WarnMissing(WhatIsMissing(trace.completeness), path);
}

int WarnMissing(const std::string& what, const std::string& path) {
  PrintWarning((path == "-" ? std::string("the trace") : path) + " is incomplete: " + what);
  return kExitIncomplete;
}

}  // namespace graphkit
