#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

namespace graphkit {

inline Imported Read(const char* format, const std::string& text) {
  std::string bytes = text;
  bytes.reserve(text.size() + kReadPadding);
  Result<Imported> imported = FindFormat(format)->read(bytes);
  REQUIRE_MESSAGE(imported.has_value(), Describe(imported.error()));
  // Whatever is imported is a sound trace.
  const Result<std::string> written = FormatTrace(imported->trace);
  REQUIRE_MESSAGE(written.has_value(), Describe(written.error()));
  const Result<Trace> again = ParseTrace(*written, "test");
  REQUIRE_MESSAGE(again.has_value(), Describe(again.error()));
  CHECK(*again == imported->trace);
  return std::move(*imported);
}

inline Imported ReadSample(const std::string& name, const FileFormat* format = nullptr) {
  Result<Imported> imported = ImportFile(std::string(GRAPHKIT_TESTDATA) + "/" + name, format);
  REQUIRE_MESSAGE(imported.has_value(), Describe(imported.error()));
  return std::move(*imported);
}

inline Error ErrorIn(const char* format, const std::string& text) {
  std::string bytes = text;
  bytes.reserve(text.size() + kReadPadding);
  const Result<Imported> imported = FindFormat(format)->read(bytes);
  REQUIRE_FALSE(imported.has_value());
  return imported.error();
}

inline std::string ErrorOf(const char* format, const std::string& text) {
  return ErrorIn(format, text).message;
}

// "0 kernel a", "1 memcpy" and "0->1" of all graphs.
inline std::vector<std::string> Drawn(const Trace& trace) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    std::string line = std::to_string(i) + " " + NodeKindName(node.kind);
    if (node.kernel) line += " " + std::string(trace[trace[node.kernel].name]);
    lines.push_back(line);
  }
  for (const Edge& edge : trace.edges) {
    lines.push_back(std::to_string(edge.from.value) + "->" + std::to_string(edge.to.value));
  }
  return lines;
}

using Lines = std::vector<std::string>;

inline Lines SummaryOf(const Imported& imported) {
  REQUIRE(imported.trace.imported_from.size() == 1);
  return {std::string(imported.trace[imported.trace.imported_from[0].summary])};
}

}  // namespace graphkit
