// Where data goes: a file that appears whole or not at all, or stdout.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Calls `write` with a stream and puts what it wrote at `path`, as CreateFile does, and says so to
// a person at a terminal.
Result<void> WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write);

// Tells a person at a terminal that `path` was written, and how large it is.
void SayWritten(const std::string& path);

// The same in a job's log: of commands whose output isn't on stdout by itself.
void LogWritten(const std::string& path);

// Shows a file that was written, with the program that BROWSER names or else xdg-open.
Result<void> ShowFile(const std::string& path);

enum class Format { kText, kJson };

// Where a view goes to and its form: the options that most subcommands share.
struct View {
  std::string output = "-";  // as of -o; "-" is stdout
  Format format = Format::kText;
  size_t top = TextStyle{}.top;  // entries of each list in the text; 0: all
};

// Writes the view's JSON or its text, as WriteOutput does.
Result<void> WriteView(const View& view, const std::function<void(std::ostream&)>& json,
                       const std::function<void(const TextOut&)>& text);

// How text views look where they go to.

// `output` as of -o; "-" is stdout. On a terminal as wide as it is and in colour; in a pipe and in
// files the same everywhere: neither colours nor tables that are cut.
TextStyle StyleFor(const std::string& output, size_t top = TextStyle{}.top);

// DOT as a picture, drawn by Graphviz: in `format` ("svg", "png", …: any that Graphviz
// has) as bytes. Layout runs in a process of its own, so that a crash of Graphviz is an error and
// not ours.
Result<std::string> Draw(const std::string& dot, const std::string& format);

}  // namespace graphkit
