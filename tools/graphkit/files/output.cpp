#include "tools/graphkit/files/output.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <streambuf>
#include <vector>

#include "libgraphkit/io/bytes/byte_sink.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

Error SystemError(const std::string& what, const std::string& path, int error) {
  Error result{.message = what + ": " + std::strerror(error), .file = path};
  result.kind = Error::Kind::kSystem;
  return result;
}

// A stream's output goes to a sink; the first error stays.
class SinkBuffer final : public std::streambuf {
 public:
  explicit SinkBuffer(ByteSink& sink) : sink_(sink), buffer_(1 << 16) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }

  const Result<void>& written() const { return written_; }

 protected:
  int_type overflow(int_type next) override {
    if (sync() != 0) return traits_type::eof();
    return traits_type::eq_int_type(next, traits_type::eof())
               ? traits_type::not_eof(next)
               : sputc(traits_type::to_char_type(next));
  }

  int sync() override {
    if (written_) written_ = sink_.Write({pbase(), static_cast<size_t>(pptr() - pbase())});
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return written_ ? 0 : -1;
  }

 private:
  ByteSink& sink_;
  std::vector<char> buffer_;
  Result<void> written_;
};

Result<void> WriteTo(ByteSink& sink, const std::function<void(std::ostream&)>& write) {
  SinkBuffer buffer(sink);
  std::ostream out(&buffer);
  write(out);
  out.flush();
  if (!buffer.written()) return buffer.written();
  if (!out) return Error{.message = "can't write", .kind = Error::Kind::kSystem};
  return sink.Finish();
}

}  // namespace

// To a person at a terminal; a job's log has it from the commands that say so.
void SayWritten(const std::string& path) {
  if (path == "-" || isatty(STDERR_FILENO) == 0) return;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) PrintNote("wrote " + path + " (" + FormatBytes(size) + ")");
}

void LogWritten(const std::string& path) {
  if (path != "-" && isatty(STDERR_FILENO) == 0) PrintNote("wrote " + path);
}

Result<void> WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const Result<std::unique_ptr<ByteSink>> sink = CreateFile(path);
  const Result<void> written = sink ? WriteTo(**sink, write) : Result<void>(sink.error());
  if (written) {
    SayWritten(path);
    return {};
  }
  Error error = written.error();
  error.file = path == "-" ? "standard output" : path;
  return error;
}

Result<void> WriteView(const View& view, const std::function<void(std::ostream&)>& json,
                       const std::function<void(const TextOut&)>& text) {
  if (view.format == Format::kJson) return WriteOutput(view.output, json);
  const TextStyle style = StyleFor(view.output, view.top);
  return WriteOutput(view.output, [&](std::ostream& out) { text({style, out}); });
}

Result<void> ShowFile(const std::string& path) {
  if (path == "-") {
    return Error{.message = "--open shows a file, and the output goes to stdout",
                 .hint = "name one with -o FILE"};
  }
  const char* opener = std::getenv("BROWSER");
  const pid_t child = fork();
  if (child < 0) return SystemError("can't open", path, errno);
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const char* program = opener && *opener ? opener : "xdg-open";
    execlp(program, program, path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  Error error{.message = "was written, and no program opened it",
              .hint = "open it yourself, or name a program in BROWSER",
              .file = path};
  error.kind = Error::Kind::kSystem;
  return error;
}

TextStyle StyleFor(const std::string& output, size_t top) {
  TextStyle style{.ascii = !LocaleIsUtf8(), .top = top};
  if (output != "-") return style;
  const auto width = static_cast<size_t>(TerminalWidth(0));
  if (width > 0) style.width = width;
  if (!StdoutIsTerminal()) return style;
  style.colour = ColourOnStdout();
  style.table = style.width;
  return style;
}

}  // namespace graphkit
