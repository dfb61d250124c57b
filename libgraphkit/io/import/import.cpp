#include "libgraphkit/io/import/import.h"

#include <sys/stat.h>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/formats.h"
#include "libgraphkit/io/trace/trace_file.h"

namespace graphkit {
namespace {

// A trace of numbers that nothing has isn't one that a tool wrote.
template <Result<Imported> (*Read)(std::string_view)>
Result<Imported> Checked(std::string_view bytes) {
  Result<Imported> imported = Read(bytes);
  if (!imported) return imported;
  if (const std::optional<BadMemory> bad = FindBadMemory(imported->trace)) {
    return Error{.message = "impossible sizes or addresses: " + bad->message,
                 .hint = "the file is damaged"};
  }
  return imported;
}

// One row a format; those that are sure first.
constexpr ImportFormat kFormats[] = {
    {"torch-snapshot", "what torch.cuda.memory._dump_snapshot wrote", IsTorchSnapshot,
     Checked<ReadTorchSnapshotTrace>},
    {"torch-graph", "what torch.cuda.export_graph_data wrote", IsTorchGraph,
     Checked<ReadTorchGraph>},
    {"torch-nodes", "launch stacks or annotations of torch.cuda.graph_annotations", IsTorchNodes,
     Checked<ReadTorchNodes>},
    {"dot", "what cudaGraphDebugDotPrint wrote", IsDot, Checked<ReadDot>},
    {"rmm", "the log of RMM's logging resource adaptor", IsRmmLog, Checked<ReadRmmLog>},
    {"kineto", "a Chrome trace of PyTorch's profiler", IsKineto, Checked<ReadKineto>, true},
    {"nsys", "a SQLite export of Nsight Systems", IsNsys, Checked<ReadNsys>},
};

Result<Imported> Named(Result<Imported> result, const std::string& path) {
  if (!result && result.error().file.empty()) {
    result.error().file = path == "-" ? "stdin" : path;
  }
  return result;
}

std::string FormatNames() {
  std::string names;
  for (const ImportFormat& format : kFormats) {
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

Error NotKnown(std::string_view head, const std::string& path) {
  const bool python = path.ends_with(".py") ||
                      (head.starts_with("#!") &&
                       head.substr(0, head.find('\n')).find("python") != std::string_view::npos);
  if (python) {
    return {.message = "this is a Python script", .hint = "try graphkit trace python " + path};
  }
  if (head.starts_with("\x7f"
                       "ELF") ||
      head.starts_with("#!")) {
    const bool named = path.find('/') != std::string::npos;
    return {.message = "this is a program",
            .hint = "try graphkit trace " + (named ? path : "./" + path)};
  }
  return {.message = "unrecognized format",
          .hint = "graphkit reads its own traces, and of other tools " + FormatNames()};
}

bool IsRegular(const std::string& path) {
  struct stat info {};
  return path != "-" && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<Imported> ReadSource(ByteSource& source, const ImportFormat& format) {
  const Result<std::string> bytes = ReadAll(source, kReadPadding);
  if (!bytes) return bytes.error();
  return format.read(*bytes);
}

Result<Imported> ReadAs(const ImportFormat& format, ByteSource& source, const std::string& path) {
  if (format.padded || !IsRegular(path)) return ReadSource(source, format);
  const Result<MappedFile> file = MappedFile::Open(path);
  return file ? format.read(file->bytes()) : file.error();
}

Result<Imported> ReadPlainTrace(ByteSource& source, const std::string& path) {
  Result<Trace> trace = ReadTrace(source, path == "-" ? "stdin" : path);
  if (!trace) return trace.error();
  Imported imported;
  imported.trace = std::move(*trace);
  return imported;
}

}  // namespace

std::string CountOf(uint64_t count, const std::string& noun) {
  const char* plural = noun.ends_with("ch") || noun.ends_with("ss") ? "es" : "s";
  return FormatCount(count) + " " + noun + (count == 1 ? "" : plural);
}

std::string CountsOf(const Trace& trace) {
  return CountOf(trace.graphs.size(), "graph") + ", " + CountOf(trace.nodes.size(), "node") + ", " +
         CountOf(trace.edges.size(), "edge");
}

std::span<const ImportFormat> ImportFormats() { return kFormats; }

const ImportFormat* FindImportFormat(std::string_view name) {
  for (const ImportFormat& format : kFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

const ImportFormat* GuessImportFormat(std::string_view head) {
  for (const ImportFormat& format : kFormats) {
    if (format.is(head)) return &format;
  }
  return nullptr;
}

bool IsNsys(std::string_view head) {
  using namespace std::string_view_literals;
  return head.starts_with("SQLite format 3\0"sv);
}

bool IsTraceHead(std::string_view head) {
  return head.starts_with(R"({"schema":"graphkit-trace")");
}

Result<Imported> ImportFile(const std::string& path, const ImportFormat* format,
                            std::atomic<size_t>* read) {
  Result<std::unique_ptr<ByteSource>> source = OpenFile(path, read);
  if (!source) return Named(source.error(), path);
  return ImportSource(std::move(*source), path, format);
}

Result<Imported> ImportSource(std::unique_ptr<ByteSource> source, const std::string& path,
                              const ImportFormat* format) {
  const Result<std::string> head = Peek(source, kHeadBytes);
  if (!head) return Named(head.error(), path);
  if (!format) {
    if (IsTraceHead(*head)) return ReadPlainTrace(*source, path);
    format = GuessImportFormat(*head);
    // A trace that is damaged at its beginning says so better than this.
    if (!format && head->starts_with('{')) return ReadPlainTrace(*source, path);
    if (!format && head->empty()) return ReadPlainTrace(*source, path);
    if (!format) return Named(NotKnown(*head, path), path);
  }
  Result<Imported> imported = ReadAs(*format, *source, path);
  if (imported) imported->format = format->name;
  return Named(std::move(imported), path);
}

}  // namespace graphkit
