#include "libgraphkit/io/trace/trace_reader.h"

#include <cstring>
#include <mutex>

#include "libgraphkit/io/record/json_cursor.h"
#include "libgraphkit/io/trace/trace_assembler.h"
#include "libgraphkit/io/trace/trace_lines.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

constexpr size_t kChunkSize = size_t{256} * 1024;
constexpr size_t kLongestLine = size_t{256} << 20;
constexpr uint64_t kLineOfFirstRecord = 2;
constexpr size_t kFirstGuess = size_t{4} << 20;  // bytes from which the rest is guessed
constexpr size_t kMostThreads = 4;               // putting records into the trace is serial

// Some whole lines, each ending in a line feed.
struct LineChunk {
  std::vector<char> buffer;  // longer than the lines by kLinePadding at least
  size_t size = 0;
  std::string_view text() const { return {buffer.data(), size}; }
};

// Cuts a stream of bytes into chunks of whole lines.
class LineChunks {
 public:
  explicit LineChunks(ByteSource& source) : source_(source) {}

  // The next lines; false: there are no more. A NUL byte ends the text: files that are written
  // through a mapping end in NULs when their writer was killed.
  Result<bool> Next(LineChunk& chunk) {
    chunk.buffer.resize(std::max(chunk.buffer.size(), carry_.size()));
    std::ranges::copy(carry_, chunk.buffer.begin());
    chunk.size = carry_.size();
    const char* feed = nullptr;
    while (feed == nullptr && !at_end_) {
      const size_t seen = chunk.size;
      if (seen > kLongestLine) {
        return Error{.message = "a line is longer than 256 MiB", .hint = "this isn't a trace"};
      }
      if (Result<void> filled = Fill(chunk); !filled) return filled.error();
      feed = static_cast<const char*>(memrchr(chunk.buffer.data() + seen, '\n', chunk.size - seen));
    }
    const size_t whole = feed == nullptr ? 0 : static_cast<size_t>(feed - chunk.buffer.data()) + 1;
    carry_.assign(chunk.buffer.data() + whole, chunk.buffer.data() + chunk.size);
    chunk.size = whole;
    return whole != 0;
  }

  // The text behind the last line feed. Complete once Next() returned false.
  bool at_end() const { return at_end_; }
  std::string_view tail() const { return {carry_.data(), carry_.size()}; }

 private:
  // Appends up to kChunkSize bytes to the chunk.
  Result<void> Fill(LineChunk& chunk) {
    chunk.buffer.resize(std::max(chunk.buffer.size(), chunk.size + kChunkSize + kLinePadding));
    char* begin = chunk.buffer.data() + chunk.size;
    const Result<size_t> count = source_.Read({begin, kChunkSize});
    if (!count) return count.error();
    at_end_ = *count < kChunkSize;
    size_t kept = *count;
    if (const void* nul = std::memchr(begin, '\0', kept)) {
      kept = static_cast<size_t>(static_cast<const char*>(nul) - begin);
      at_end_ = true;
    }
    chunk.size += kept;
    return {};
  }

  ByteSource& source_;
  bool at_end_ = false;
  std::vector<char> carry_;  // the beginning of a line
};

// Puts parsed lines into a trace, until something is wrong.
class Assembly {
 public:
  // `bytes`: of the file; 0: unknown.
  Assembly(DeviceKind device, size_t bytes) : assembler_(device), bytes_(bytes) {}

  bool failed() const { return error_.has_value(); }

  void Add(const ParsedLines& lines) {
    for (const ParsedRecord& parsed : lines.records) {
      if (Add(parsed, lines.values)) continue;
      const std::string name(parsed.type == nullptr ? "?" : parsed.type->name);
      const Problem& problem = assembler_.problem();
      return FailAt(NextPlace(), "record \"" + name + "\" " + problem.message, problem.hint);
    }
    if (!lines.problem.message.empty())
      FailAt(NextPlace(), lines.problem.message, lines.problem.hint);
    if (lines.blank && !assembler_.ended())
      FailAt(NextPlace(), "the line is empty", "one record a line");
  }

  // Lines of so many bytes were added: guesses from them how many are to come.
  void GuessFrom(size_t bytes) {
    seen_ += bytes;
    if (seen_ < next_guess_) return;
    next_guess_ *= 4;
    if (seen_ < bytes_) {
      assembler_.MakeRoom(static_cast<double>(bytes_) / static_cast<double>(seen_));
    }
  }

  // Takes the text behind the last line feed: the end record, or a line that was cut.
  void AddTail(std::string_view tail) {
    if (assembler_.ended() && tail.find_first_not_of(" \t\r") != std::string_view::npos) {
      return FailAt(NextPlace(), "text follows the end record", {});
    }
    if (!tail.starts_with(R"({"type":"end")") || !tail.ends_with("}]}")) return;
    std::string line(tail);
    line += '\n';
    line.resize(line.size() + kLinePadding);
    ParsedLines lines;
    ParseLines({line.data(), tail.size() + 1}, lines);
    Add(lines);
  }

  void Fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  Result<Trace> Finish() {
    if (!failed() && !assembler_.Finish()) {
      const Problem& problem = assembler_.problem();
      FailAt(problem.place.value_or(assembler_.place()), problem.message, problem.hint);
    }
    if (failed()) return *error_;
    return assembler_.Take();
  }

 private:
  bool Add(const ParsedRecord& parsed, const LooseValues& values) {
    if (parsed.type == nullptr) return assembler_.AddUnknown();
    return assembler_.Add(parsed.type->index, parsed.record, values);
  }
  Seq NextPlace() const { return assembler_.place() + (assembler_.ended() ? 1 : 0); }
  void FailAt(Seq place, std::string message, std::string hint) {
    Fail({.message = std::move(message),
          .hint = std::move(hint),
          .line = kLineOfFirstRecord + place});
  }

  TraceAssembler assembler_;
  std::optional<Error> error_;
  size_t bytes_;
  size_t seen_ = 0;
  size_t next_guess_ = kFirstGuess;
};

// A chunk on its way through one thread.
struct Work {
  LineChunk chunk;
  size_t header = 0;  // bytes at the beginning of the chunk that aren't records
  size_t ticket = 0;
  ParsedLines lines;
};

// Reads one file with any number of threads. Each takes a chunk and a ticket, parses the chunk,
// waits until the tickets before its own have been put into the trace, and puts its own there.
// After an exception no turn comes any more.
class ParallelReader {
 public:
  ParallelReader(LineChunks& chunks, Assembly& assembly) : chunks_(chunks), assembly_(assembly) {}

  // Reads everything; `first` holds the first chunk.
  void ReadAll(Work& first) {
    const size_t threads = chunks_.at_end() ? 1 : std::min(Cores(), kMostThreads);
    ParallelFor(threads, threads, [&](size_t i) {
      if (i == 0) return Run(first);
      Work work;
      if (Take(work)) Run(work);
    });
    if (read_error_) assembly_.Fail(*read_error_);
    if (!assembly_.failed()) assembly_.AddTail(chunks_.tail());
  }

 private:
  bool Take(Work& work) {
    std::lock_guard lock(take_);
    if (stopped_) return false;
    const Result<bool> more = chunks_.Next(work.chunk);
    if (!more) read_error_ = more.error();
    stopped_ = !more || !*more;
    if (stopped_) return false;
    work.header = 0;
    work.ticket = tickets_++;
    return true;
  }

  // `work` holds a chunk.
  void Run(Work& work) try {
    bool more = true;
    while (more) {
      ParseLines(work.chunk.text().substr(work.header), work.lines);
      if (!WaitForTurn(work.ticket)) return;
      if (!assembly_.failed()) assembly_.Add(work.lines);
      if (!assembly_.failed()) assembly_.GuessFrom(work.chunk.text().size());
      const bool failed = assembly_.failed();
      PassTurn(work.ticket);
      more = !failed && Take(work);
    }
  } catch (...) {
    Break();
    throw;
  }

  // False: the turn won't come.
  bool WaitForTurn(size_t ticket) {
    for (size_t turn = turn_; turn != ticket; turn = turn_) {
      if (turn == kBroken) return false;
      turn_.wait(turn);
    }
    return true;
  }

  // Unless it is broken.
  void PassTurn(size_t ticket) {
    turn_.compare_exchange_strong(ticket, ticket + 1);
    turn_.notify_all();
  }
  void Break() {
    turn_ = kBroken;
    turn_.notify_all();
  }

  std::mutex take_;
  LineChunks& chunks_;
  size_t tickets_ = 1;
  bool stopped_ = false;
  std::optional<Error> read_error_;

  static constexpr size_t kBroken = ~size_t{0};
  std::atomic<size_t> turn_ = 0;
  Assembly& assembly_;  // belongs to the thread whose turn it is
};

Result<Trace> ReadRecords(ByteSource& source) {
  const size_t bytes = source.BytesLeft();
  LineChunks chunks(source);
  Work first;
  const Result<bool> whole_lines = chunks.Next(first.chunk);
  if (!whole_lines) return whole_lines.error();
  const std::string_view text = *whole_lines ? first.chunk.text() : chunks.tail();
  if (text.empty()) return Error{.message = "the file is empty"};
  const size_t feed = text.find('\n');
  const Result<DeviceKind> device = ParseTraceHeader(text.substr(0, feed));
  if (!device) return device.error();

  Assembly assembly(*device, bytes);
  first.header = feed + 1;
  if (*whole_lines) ParallelReader(chunks, assembly).ReadAll(first);
  return assembly.Finish();
}

Result<Trace> ReadFrom(Result<std::unique_ptr<ByteSource>> source, std::string name) {
  if (source) return ReadTrace(**source, std::move(name));
  source.error().file = std::move(name);
  return source.error();
}

}  // namespace

Result<Trace> ReadTrace(const std::string& path) {
  return ReadFrom(OpenFile(path), path == "-" ? "stdin" : path);
}

Result<Trace> ReadTrace(ByteSource& source, std::string name) {
  Result<Trace> trace = ReadRecords(source);
  if (!trace) trace.error().file = std::move(name);
  return trace;
}

Result<Trace> ParseTrace(std::string_view text, std::string name) {
  return ReadFrom(Decompressed(OpenMemory(text)), std::move(name));
}

}  // namespace graphkit
