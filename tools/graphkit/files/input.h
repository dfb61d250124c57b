// Reading what the user named.
#pragma once

#include <string>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Reads a trace, or another tool's file as one, and says so on stderr when it takes long. An
// incomplete trace is a value: what is made of it ends with kExitIncomplete.
Result<Ran> ReadInput(const std::string& path);
// The same, of a file that is open.
Result<Ran> ReadInput(OpenedFile file);
// The same, of graphs whose memory can be planned and replayed; an error of kind kIncomplete says
// why it can't.
Result<Ran> ReadWithMemory(const std::string& path);
Result<Ran> ReadWithMemory(OpenedFile file);
// The same as ReadInput without progress on stderr: for several threads at once.
Result<Ran> ReadQuietly(const std::string& path);

// Reads a file as this format of FileFormats(), or as its first bytes tell ("auto").
Result<Imported> ReadAs(const std::string& kind, const std::string& path);

// Writes a trace, with a message when it takes long, and says so to a person at a terminal.
Result<void> WriteTraceFile(const Trace& trace, const std::string& path);

// Bytes of a file; 0: unknown, as of stdin.
size_t FileSize(const std::string& path);

// The parts that an incomplete trace lacks, on one line; empty for a complete one.
std::string WhatIsMissing(const Trace& trace);

// One warning on stderr for a trace that is incomplete; gives the exit code that goes with it.
int WarnIncomplete(const Trace& trace, const std::string& path);
int WarnMissing(const std::string& what, const std::string& path);

// Notes on sources that were joined into one trace.

// "not joined (3): nodes of the profile that no graph has: graph 1 node 2, …"
std::string Shown(const NotJoined& left);

}  // namespace graphkit
