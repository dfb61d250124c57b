// `graphkit attribute`: the time of replayed kernels by the place that launched them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "libgraphkit/compare/attribute/attribute.h"
#include "libgraphkit/io/bytes/byte_sink.h"
#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/import/profile.h"
#include "libgraphkit/ran/resolve.h"
#include "tools/graphkit/attribute/render.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

enum class AttributeFormat { kText, kMarkdown, kJson, kHtml };

struct AttributeArguments {
  std::string capture, replay, output;
  AttributeFormat format = AttributeFormat::kText;
  size_t top = TextStyle().top;

  bool page() const { return format == AttributeFormat::kHtml && !output.empty(); }
  // The profile is written again.
  bool named() const { return format != AttributeFormat::kHtml && !output.empty(); }
};

bool IsFormat(const OpenedFile& file, std::string_view name) {
  return file.format != nullptr && file.format->name == name;
}

Error InFile(Error error, const std::string& path) {
  if (error.file.empty()) error.file = path;
  return error;
}

// The file, or those in a folder, by their names.
std::vector<std::string> CaptureFiles(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return {path};
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (entry.is_regular_file(failed)) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

Result<void> ReadCapture(const std::string& path, Profile* profile) {
  Result<OpenedFile> file = OpenInput(path);
  if (!file) return file.error();
  const std::string name = std::filesystem::path(path).filename().string();
  if (IsFormat(*file, "kineto")) {
    const Result<void> read = ReadKinetoCaptures(*file->source, name, profile);
    return read ? read : InFile(read.error(), path);
  }
  Result<Imported> imported = ReadAsTrace(std::move(*file));
  if (!imported) return imported.error();
  AddTraceCaptures(Resolve(std::move(imported->trace)), name, imported->tool_ids, profile);
  return {};
}

// Of a folder, files of other formats are passed over.
Result<void> ReadCaptures(const std::string& path, Profile* profile) {
  const std::vector<std::string> files = CaptureFiles(path);
  for (const std::string& file : files) {
    const Result<void> read = ReadCapture(file, profile);
    if (!read && (files.size() == 1 || file == path)) return read.error();
  }
  if (!profile->captured.empty()) return {};
  return Error{.message = "no capture of a graph that launches kernels",
               .hint =
                   "give the profile that was running while the graphs were captured, or a "
                   "trace of it",
               .file = path};
}

// `named`: the profile is written again.
Result<void> ReadReplayFile(const std::string& path, bool named, Profile* profile) {
  Result<OpenedFile> file = OpenInput(path);
  if (!file) return file.error();
  Result<void> read;
  if (IsFormat(*file, "kineto")) {
    read = ReadKinetoReplays(*file->source, profile);
  } else if (IsFormat(*file, "nsys") && named) {
    read = Error{.message = "names can't be added to an export of Nsight Systems",
                 .hint = "leave out -o: --format json has them"};
  } else if (IsFormat(*file, "nsys")) {
    const Result<FileBytes> bytes = ReadBytes(*file->source);
    read = bytes ? ReadNsysReplays(bytes->text, profile) : bytes.error();
  } else {
    read = Error{.message = "not a profile of replays",
                 .hint =
                     "give a Chrome trace of PyTorch's profiler, or an SQLite export of Nsight "
                     "Systems"};
  }
  if (!read) return InFile(read.error(), path);
  if (!profile->replayed.empty() || (!IsFormat(*file, "nsys") && !profile->launches.empty()))
    return {};
  if (IsFormat(*file, "nsys"))
    return Error{.message = "no kernels of graph launches",
                 .hint = "profile replays with --cuda-graph-trace=node",
                 .file = path};
  return Error{.message = "no launch of a graph", .hint = "profile replays", .file = path};
}

// Where captured work ran, bytes into the profile, and its number.
using NamedPlaces = std::vector<std::pair<uint64_t, uint32_t>>;

// Copies the profile, and puts the names in front of the bytes at their places, which ascend.
Result<void> CopyWithNames(ByteSource& source, ByteSink& sink, const Profile& profile,
                           const NamedPlaces& places) {
  std::string chunk(size_t{1} << 20, ' '), out;
  uint64_t base = 0;
  size_t next = 0;
  while (true) {
    const Result<size_t> got = source.Read(chunk);
    if (!got) return got.error();
    if (*got == 0) return sink.Finish();
    out.clear();
    size_t copied = 0;
    for (; next < places.size() && places[next].first < base + *got; ++next) {
      const size_t place = places[next].first - base;
      out.append(chunk, copied, place - copied);
      out += AttributedArguments(profile, places[next].second);
      copied = place;
    }
    out.append(chunk, copied, *got - copied);
    base += *got;
    if (const Result<void> written = sink.Write(out); !written) return written;
  }
}

// The profile again, with the names among the arguments of its events.
Result<void> WriteNamed(const AttributeArguments& arguments, const Profile& profile,
                        const Attribution& attribution) {
  NamedPlaces places;
  for (size_t i = 0; i < profile.replayed.size(); ++i) {
    const uint32_t captured = attribution.captured_of[i];
    if (captured != ~uint32_t{0}) places.emplace_back(profile.replayed[i].at, captured);
  }
  std::ranges::sort(places);
  const Result<std::unique_ptr<ByteSource>> source = OpenFile(arguments.replay);
  if (!source) return InFile(source.error(), arguments.replay);
  const Result<std::unique_ptr<ByteSink>> sink = CreateFile(arguments.output);
  if (!sink) return InFile(sink.error(), arguments.output);
  const Result<void> copied = CopyWithNames(**source, **sink, profile, places);
  if (!copied) return InFile(copied.error(), arguments.output);
  LogWritten(arguments.output);
  return {};
}

Result<void> WriteResult(const AttributeArguments& arguments, const Profile& profile,
                         const Attribution& attribution) {
  const std::string path = arguments.page() ? arguments.output : "-";
  return WriteOutput(path, [&](std::ostream& out) {
    const TextOut text{StyleFor("-", arguments.top), out};
    switch (arguments.format) {
      case AttributeFormat::kText:
        return RenderAttributionText(attribution, text);
      case AttributeFormat::kMarkdown:
        return RenderAttributionMarkdown(attribution, text);
      case AttributeFormat::kJson:
        return RenderAttributionJson(attribution, out);
      case AttributeFormat::kHtml:
        return RenderAttributionHtml(
            profile, attribution, std::filesystem::path(arguments.replay).filename().string(), out);
    }
  });
}

int RunAttribute(const AttributeArguments& arguments) {
  Profile profile;
  if (const Result<void> read = ReadCaptures(arguments.capture, &profile); !read)
    return PrintError(read.error());
  if (const Result<void> read = ReadReplayFile(arguments.replay, arguments.named(), &profile);
      !read)
    return PrintError(read.error());
  const Attribution attribution = Attribute(profile);
  Result<void> written = WriteResult(arguments, profile, attribution);
  if (written && arguments.named()) written = WriteNamed(arguments, profile, attribution);
  if (!written) return PrintError(written.error());
  return attribution.matched[0].count == 0 ? kExitOk : kExitIncomplete;
}

}  // namespace

void AddAttributeCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<AttributeArguments>(
      app, exit_code, RunAttribute, "attribute",
      "Report the time of replayed kernels by module, line, operator and shape",
      {"graphkit attribute capture.json.gz replay.json.gz",
       "graphkit attribute capture_traces replay.json.gz -o named.json",
       "graphkit attribute capture_traces replay.json.gz -o times.html"});
  sub->add_option("capture", arguments->capture,
                  "Profile of the captures, a folder of them, or a trace")
      ->required();
  sub->add_option(
         "replay", arguments->replay,
         "Profile of replays; exit code 3 when some of its graph kernels aren't attributed")
      ->required();
  const CLI::Option* format = AddChoice<AttributeFormat>(
      *sub, "--format", arguments->format,
      {{"text", AttributeFormat::kText},
       {"markdown", AttributeFormat::kMarkdown},
       {"json", AttributeFormat::kJson},
       {"html", AttributeFormat::kHtml}},
      "Print text (the default), Markdown, JSON with a stable schema, or a page of the time by "
      "call stack");
  AddOutput(*sub, arguments->output,
            "Write the page; in the other formats the profile of replays again, with the names "
            "among the arguments of its kernels");
  FollowName<AttributeFormat>(*sub, format, arguments->output, arguments->format,
                              {{".html", AttributeFormat::kHtml}});
  AddTop(*sub, arguments->top);
}

}  // namespace graphkit
