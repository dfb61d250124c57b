// Reads other tools' files as traces. One format a file of this folder, one row each in the table
// of import.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/byte_source.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// What was read, and what there is to say about it: one line each, for people.
struct Imported {
  Trace trace;
  std::vector<std::string> summary;
};

struct ImportFormat {
  const char* name;  // "torch-snapshot"
  const char* what;  // one line for people
  // Whether a file that begins with `head` (at most kHeadBytes, decompressed) is probably one.
  bool (*is)(std::string_view head);
  // The whole file. Bytes behind its end may be read (kReadPadding) where `padded` asks for it.
  Result<Imported> (*read)(std::string_view bytes);
  bool padded = false;
};

inline constexpr size_t kHeadBytes = size_t{64} * 1024;
inline constexpr size_t kReadPadding = 64;

std::span<const ImportFormat> ImportFormats();
// Null when there is none of that name.
const ImportFormat* FindImportFormat(std::string_view name);
// The format of a file that begins with `head`; null when it is none that is known.
const ImportFormat* GuessImportFormat(std::string_view head);

// Whether a file that begins with `head` is a trace of graphkit.
bool IsTraceHead(std::string_view head);

// Reads the file at `path` ("-": stdin; compressed or not) as `format`; null: guesses, and reads a
// trace as well. Errors name the file.
Result<Imported> ImportFile(const std::string& path, const ImportFormat* format = nullptr);

}  // namespace graphkit
