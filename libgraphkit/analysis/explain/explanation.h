// The summary of one file: kind, holders of memory, findings, and next commands.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/file_about.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Parts that the file doesn't have are empty.
struct Explanation {
  std::string file;  // as the user named it
  FileAbout about = {};
  std::vector<MemoryAccount> memory = {};  // of each device, the most in use first
  const Report* report = nullptr;          // null: it has no graphs
  std::string unknown_memory = {};  // why the sizes of its memory aren't known; empty: they are
};

// `about` is of the file's format: FILE in its commands stands for the file, SOURCE for the one
// that a trace was imported from.
Explanation Explain(const std::string& file, FileAbout about);
// The same of a file that was read as a trace, with AccountForMemory's accounts; `report` is null
// where it has no graphs.
Explanation Explain(const std::string& file, FileAbout about, const Ran& trace,
                    std::vector<MemoryAccount> memory, const Report* report);

}  // namespace graphkit
