#include "tools/graphkit/trace/lines.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/io/bytes/byte_sink.h"
#include "libgraphkit/printable.h"
#include "tools/graphkit/child.h"
#include "tools/graphkit/terminal/talk.h"
#include "tools/graphkit/trace/program.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;
using Chain = std::vector<SourceFrame>;
using Places = std::map<std::string, std::map<uint64_t, Chain>>;  // by file and address

constexpr std::string_view kStack = "{\"type\":\"stack\"";
constexpr std::string_view kPlaces = "\"places\":";
constexpr std::string_view kStub = "__device_stub_";
constexpr size_t kAtOnce = 2000;  // addresses on a command line
constexpr std::chrono::seconds kPatience{120};

bool HasPlaces(std::string_view line) {
  return line.starts_with(kStack) && line.find(kPlaces) != std::string_view::npos;
}

// A record without its comma; none: it isn't one that we write.
std::optional<Json> StackOf(std::string_view line) {
  line.remove_suffix(line.ends_with(',') ? 1 : 0);
  Json stack = Json::parse(line, nullptr, false);
  const bool known =
      stack.is_object() && stack.contains("frames") &&
      (!stack.contains("places") || stack["frames"].size() == stack["places"].size());
  return known ? std::optional(std::move(stack)) : std::nullopt;
}

uint64_t PlaceOf(const Json& text) {
  return std::strtoull(text.get<std::string>().c_str(), nullptr, 16);
}

// The program or library whose code made a call, where it has no lines; empty: it has.
std::string WithoutLines(const Json& stack) {
  for (size_t i = 0; i < stack["frames"].size(); ++i) {
    const Json& frame = stack["frames"][i];
    const std::string function = frame[0], file = frame[1];
    if (IsLibraryFrame(function, file)) continue;
    const bool placed = stack.contains("places") && PlaceOf(stack["places"][i]) != 0;
    return placed || frame[2].get<uint32_t>() != 0 ? "" : file;
  }
  return "";
}

// `without_lines`: the first program or library of the user's that has none.
Places ReadPlaces(const std::string& trace, std::string& without_lines) {
  Places places;
  std::ifstream in(trace, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kStack)) continue;
    const std::optional<Json> stack = StackOf(line);
    if (!stack) continue;
    if (without_lines.empty()) without_lines = WithoutLines(*stack);
    if (!stack->contains("places")) continue;
    for (size_t i = 0; i < (*stack)["frames"].size(); ++i) {
      if (const uint64_t place = PlaceOf((*stack)["places"][i])) {
        places[(*stack)["frames"][i][1].get<std::string>()][place];
      }
    }
  }
  return places;
}

std::string Symbolizer() {
  // That of binutils 2.40 mistakes the first file of an object for what nvcc made of it.
  for (const char* name : {"llvm-addr2line", "eu-addr2line", "addr2line"}) {
    if (const std::string path = FindProgram(name); !path.empty()) return path;
  }
  return "";
}

// "step" of "/tmp/tmpxft_000061c6_00000000-6_step.cudafe1.cpp", which nvcc made of step.cu; empty
// of other files.
std::string_view MadeBySplitting(std::string_view file) {
  constexpr std::string_view kBegin = "tmpxft_", kEnd = ".cudafe1.cpp";
  file.remove_prefix(file.rfind('/') + 1);
  if (!file.starts_with(kBegin) || !file.ends_with(kEnd)) return {};
  file.remove_suffix(kEnd.size());
  for (int i = 0; i < 3; ++i) file.remove_prefix(file.find('_') + 1);
  return file;
}

// The lines are those of the source, whichever file they are said to be in.
void NameSources(std::map<uint64_t, Chain>& chains) {
  std::map<std::string, std::string, std::less<>> sources;  // by name without folder and ending
  for (const auto& [place, chain] : chains) {
    for (const SourceFrame& frame : chain) {
      const std::string_view name = std::string_view(frame.file).substr(frame.file.rfind('/') + 1);
      if (name.ends_with(".cu")) sources.emplace(name.substr(0, name.size() - 3), frame.file);
    }
  }
  for (auto& [place, chain] : chains) {
    for (SourceFrame& frame : chain) {
      const std::string_view stem = MadeBySplitting(frame.file);
      if (stem.empty()) continue;
      const auto source = sources.find(stem);
      frame.file = source != sources.end() ? source->second : std::string(stem) + ".cu";
    }
  }
}

// Why it stopped; empty: it didn't.
std::string LookUp(const std::string& symbolizer, const std::string& file,
                   std::map<uint64_t, Chain>& chains) {
  const std::vector<std::string> command = {symbolizer, "-a", "-f", "-i", "-C", "-e", file};
  for (auto next = chains.begin(); next != chains.end();) {
    std::vector<std::string> words = command;
    for (; next != chains.end() && words.size() < command.size() + kAtOnce; ++next) {
      words.push_back(HexText(next->first));
    }
    const ChildAnswer answer =
        OutputOf(words, {.limit = kPatience, .doing = "looking up source lines of " + file});
    if (!answer.whole()) return symbolizer + " " + answer.Failure();
    for (auto& [place, chain] : ReadSymbolizer(answer.text)) {
      if (const auto found = chains.find(place); found != chains.end()) {
        found->second = std::move(chain);
      }
    }
  }
  NameSources(chains);
  return "";
}

// "Touch(float*, int)" of "__device_stub__Z5TouchPfi(float*, int)".
std::string KernelOfStub(std::string_view stub) {
  stub.remove_prefix(kStub.size());
  return DemangledName(stub.substr(0, stub.find('('))).value_or("");
}

Json WithLines(const Json& stack, const Places& places) {
  Json frames = Json::array();
  std::string stub_of;  // the kernel whose stub was left out just before
  const auto add = [&](const std::string& function, const std::string& file, uint32_t line) {
    if (function.starts_with(kStub)) {
      stub_of = KernelOfStub(function);
      return;
    }
    if (function != stub_of) frames.push_back({function, file, line});
    stub_of.clear();
  };
  for (size_t i = 0; i < stack["frames"].size(); ++i) {
    const Json& frame = stack["frames"][i];
    const std::string function = frame[0], file = frame[1];
    const uint64_t place = PlaceOf(stack["places"][i]);
    const auto module = places.find(file);
    if (place == 0 || module == places.end() || module->second.at(place).empty()) {
      add(function, file, frame[2]);
      continue;
    }
    for (const SourceFrame& at : module->second.at(place)) add(at.function, at.file, at.line);
  }
  Json made = stack;
  if (!frames.empty()) made["frames"] = std::move(frames);
  made.erase("places");
  return made;
}

Result<void> Rewrite(const std::string& trace, const Places& places) {
  Result<std::unique_ptr<ByteSink>> out = CreateFile(trace);
  if (!out) return out.error();
  std::ifstream in(trace, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (HasPlaces(line)) {
      if (const std::optional<Json> stack = StackOf(line)) {
        line = WithLines(*stack, places).dump(-1, ' ', false, Json::error_handler_t::replace) + ",";
      }
    }
    if (!in.eof()) line += '\n';  // the last line may have none
    if (const Result<void> written = (*out)->Write(line); !written) return written.error();
  }
  if (in.bad()) return Error{.message = "can't be read", .kind = Error::Kind::kSystem};
  return (*out)->Finish();
}

}  // namespace

std::vector<std::pair<uint64_t, std::vector<SourceFrame>>> ReadSymbolizer(std::string_view text) {
  std::vector<std::pair<uint64_t, Chain>> found;
  const auto next = [&text] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
  };
  while (!text.empty()) {
    const std::string_view line = next();
    if (line.starts_with("0x")) {
      found.emplace_back(std::strtoull(std::string(line).c_str(), nullptr, 16), Chain());
      continue;
    }
    const std::string_view at = next();  // "file:line", "file:line (discriminator 3)", "??:0"
    const size_t colon = at.rfind(':', at.find(" (") == at.npos ? at.npos : at.find(" ("));
    if (colon == at.npos || found.empty()) continue;
    const auto number =
        static_cast<uint32_t>(std::strtoul(std::string(at.substr(colon + 1)).c_str(), nullptr, 10));
    const std::string file(at.substr(0, colon)), function(line);
    if (number == 0 || file == "??" || function == "??") continue;
    Chain& chain = found.back().second;
    // Inlined in pieces, a function comes more than once: where the call is comes first.
    if (!chain.empty() && chain.back().function == function && chain.back().file == file) continue;
    chain.push_back({function, file, number});
  }
  return found;
}

void AddSourceLines(const std::string& trace) {
  std::string without_lines;
  Places places = ReadPlaces(trace, without_lines);
  if (!without_lines.empty()) {
    PrintNote("no source lines in " + without_lines.substr(without_lines.rfind('/') + 1) +
              ": compile it with -g, which may be combined with -O");
  }
  if (places.empty()) return;
  const std::string symbolizer = Symbolizer();
  if (symbolizer.empty()) {
    PrintNote("stacks have no source lines: install addr2line (binutils, elfutils or LLVM)");
    return;
  }
  for (auto& [file, chains] : places) {
    if (const std::string why = LookUp(symbolizer, file, chains); !why.empty()) {
      PrintWarning("stacks have no source lines of " + file + ": " + why);
    }
  }
  if (const Result<void> written = Rewrite(trace, places); !written) {
    PrintWarning("source lines could not be written into " + trace + ": " +
                 Describe(written.error()));
  }
}

}  // namespace graphkit
