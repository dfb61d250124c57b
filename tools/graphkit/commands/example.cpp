// `graphkit example DIR`: the program of the tutorial, its sources and a trace of it.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

struct ExampleArguments {
  std::string folder;
};

Error NotWritten(const fs::path& path, const std::error_code& error) {
  return {.message = "can't be written: " + error.message(), .file = path.string()};
}

// Nothing is written where a file of the same name exists.
Result<void> CopyExample(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return NotWritten(to, error);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from, error)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const fs::path target = to / file.filename();
    if (!fs::exists(target, error)) continue;
    return Error{
        .message = "exists already", .hint = "name another folder", .file = target.string()};
  }
  for (const fs::path& file : files) {
    if (!fs::copy_file(file, to / file.filename(), error)) return NotWritten(to, error);
  }
  return {};
}

int RunExample(const ExampleArguments& arguments) {
  const fs::path from =
      fs::path(PluginFolder()).parent_path().parent_path() / "share/graphkit/example";
  std::error_code error;
  if (!fs::is_regular_file(from / "record_stream", error)) {
    return PrintError(Error{.message = "this build has no example",
                            .hint = "build it: cmake --build build --target example"});
  }
  const Result<void> copied = CopyExample(from, arguments.folder);
  if (!copied) return PrintError(copied.error());
  const std::string folder = Printable(fs::path(arguments.folder).string());
  std::cout << "graphkit " << folder << "/record_stream.json\n"
            << "graphkit trace -o step.json " << folder << "/record_stream\n";
  return kExitOk;
}

}  // namespace

void AddExampleCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ExampleArguments>(
      app, exit_code, RunExample, "example",
      "Write a small CUDA program with a fault, its sources and its trace",
      {"graphkit example demo"});
  sub->add_option("folder", arguments->folder, "Folder to write to, made where it is missing")
      ->required();
}

}  // namespace graphkit
