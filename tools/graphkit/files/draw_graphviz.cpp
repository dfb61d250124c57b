#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <graphviz/gvplugin.h>

#include "tools/graphkit/child.h"
#include "tools/graphkit/files/output.h"

#ifdef GRAPHKIT_GRAPHVIZ_PLUGINS
extern "C" {
extern gvplugin_library_t gvplugin_core_LTX_library;
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
}
#endif

namespace graphkit {

namespace {

std::string graphviz_said;  // Graphviz reports through a plain function

int Keep(char* text) {
  graphviz_said += text;
  return 0;
}

// gvRenderData names formats that it lacks in these words.
bool FormatIsUnknown(const std::string& said) {
  return said.find("not recognized") != std::string::npos ||
         said.find("unavailable") != std::string::npos;
}

// True if this machine's Graphviz lists its plugins: in GVBINDIR, or beside its library. With
// linked plugins it crashes when it has to look and finds nothing.
bool IsConfigured() {
  std::filesystem::path folder;
  Dl_info library;
  if (const char* set = std::getenv("GVBINDIR")) {
    folder = set;
  } else if (dladdr(reinterpret_cast<void*>(&gvContextPlugins), &library) != 0) {
    folder = std::filesystem::path(library.dli_fname).parent_path() / "graphviz";
  }
  std::error_code absent;
  for (const auto& file : std::filesystem::directory_iterator(folder, absent)) {
    if (file.path().filename().string().starts_with("config")) return true;
  }
  return false;
}

Error DrawingError(const std::string& what, const std::string& format) {
  if (FormatIsUnknown(what)) {
    return Error{.message = "Graphviz has no format '" + format + "'",
                 .hint = IsConfigured()
                             ? "use another ending: svg, png, pdf, dot, …"
                             : "use svg or dot; an installed Graphviz draws DOT as others"};
  }
  return Error{
      .message = "Graphviz can't draw this as " + format + ": " + what,
      .hint = "write DOT with -o FILE.dot and try dot -T" + format + " or another layout engine",
      .kind = Error::Kind::kSystem};
}

std::string FirstLine(const std::string& text) {
  const size_t start = text.starts_with("Error: ") ? 7 : 0;
  const size_t end = text.find('\n', start);
  return text.empty() ? "no reason given" : text.substr(start, end - start);
}

// Knows the plugins that are linked, and those that this machine's Graphviz is configured with.
GVC_t* NewContext() {
#ifdef GRAPHKIT_GRAPHVIZ_PLUGINS
  static const lt_symlist_t linked[] = {
      {"gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library},
      {"gvplugin_core_LTX_library", &gvplugin_core_LTX_library},
      {nullptr, nullptr}};
  return gvContextPlugins(linked, /*demand_loading=*/IsConfigured());
#else
  return gvContext();
#endif
}

// In the child: "+" and the picture, or "-" and what was wrong. Frees nothing: the child ends.
std::string DrawHere(const std::string& dot, const std::string& format) {
  agseterrf(Keep);
  agseterr(AGERR);
  GVC_t* context = NewContext();
  Agraph_t* graph = agmemread(dot.c_str());
  char* data = nullptr;
  unsigned int size = 0;
  const bool drawn = graph != nullptr && gvLayout(context, graph, "dot") == 0 &&
                     gvRenderData(context, graph, format.c_str(), &data, &size) == 0;
  if (drawn && size == 0) return "-it made an empty file";
  return drawn ? "+" + std::string(data, size) : "-" + FirstLine(graphviz_said);
}

}  // namespace

Result<std::string> Draw(const std::string& dot, const std::string& format) {
  const ChildAnswer answer =
      RunInChild([&] { return DrawHere(dot, format); }, {.doing = "laying out with Graphviz"});
  if (!answer.whole()) return DrawingError("it " + answer.Failure(), format);
  if (answer.text.empty()) return DrawingError("it ended without a picture", format);
  if (answer.text[0] == '-') return DrawingError(answer.text.substr(1), format);
  return answer.text.substr(1);
}

}  // namespace graphkit
