// The formats of the files that graphkit reads, one row each in the table of file_format.cpp. A
// file is opened once; its first bytes choose the row, and the row says how the rest is read.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/model/file_about.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct FileFormat {
  // A command that goes on from such a file, and its purpose. The file's name replaces FILE; the
  // name of the file that a trace was imported from replaces SOURCE.
  struct Next {
    const char* command = nullptr;
    const char* shows = nullptr;
  };

  const char* name;   // "torch-snapshot", "plan": in JSON and on the command line
  const char* title;  // "PyTorch memory snapshot"
  // The test of a file's first bytes (at most kHeadBytes, decompressed).
  bool (*is)(std::string_view head);
  // Formats of other tools: the file that `graphkit import` reads as a trace, in one line.
  const char* written_by = nullptr;
  // The reader of the whole file, if it is read as a trace. Bytes behind the file's end may be read
  // (kReadPadding) where `padded` asks for it.
  Result<Imported> (*read)(std::string_view bytes) = nullptr;
  bool padded = false;
  // Figures of all its bytes ("335 placements", "peak 40 MiB"), if it isn't read as a trace.
  std::vector<std::string> (*facts)(std::string_view bytes) = nullptr;
  std::array<Next, 4> next = {};
};

inline constexpr size_t kHeadBytes = size_t{64} * 1024;

std::span<const FileFormat> FileFormats();
// Null: there is none of that name.
const FileFormat* FindFormat(std::string_view name);
// The format of a file that begins with `head`; null: it isn't known.
const FileFormat* GuessFormat(std::string_view head);
// The row of graphkit's own traces.
const FileFormat& TraceFormat();

// The format as a file's description, without facts.
FileAbout AboutFormat(const FileFormat& format);
// The same with facts, of a file that isn't read as a trace.
FileAbout DescribeBytes(const FileFormat& format, std::string_view bytes);

struct OpenedFile {
  std::string path;  // "-": standard input
  std::unique_ptr<ByteSource> source;
  std::string head;                    // of the source, which still gives it
  const FileFormat* format = nullptr;  // null: not known

  bool holds_trace() const { return format && (format->read || format == &TraceFormat()); }
};

// Errors name the file. `read` counts the bytes that were read of the file; may be null.
Result<OpenedFile> OpenInput(const std::string& path, std::atomic<size_t>* read = nullptr);
// Reads the rest as a trace; an error for a file of another format.
Result<Imported> ReadAsTrace(OpenedFile file);

// Opens and reads a file as `format`; null: its first bytes choose.
Result<Imported> ImportFile(const std::string& path, const FileFormat* format = nullptr,
                            std::atomic<size_t>* read = nullptr);

}  // namespace graphkit
