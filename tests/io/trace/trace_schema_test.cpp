// The format is written down for people in docs/format.md, beside the records' fields, of which the
// JSON Schema is made. It must name the same keys.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace graphkit {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("docs/format.md names every type of record and every key") {
  const std::string page = ReadText(GRAPHKIT_TESTDATA "/../docs/format.md");
  const auto names = [&](const std::string& word) {
    return page.find('`' + word + '`') != std::string::npos;
  };
  const auto schema = nlohmann::json::parse(ReadText(GRAPHKIT_TRACE_SCHEMA));
  size_t types = 0;
  for (const auto& definition : schema["$defs"].items()) {
    const auto keys = definition.value().value("properties", nlohmann::json::object());
    if (!keys.contains("src")) continue;  // no record
    ++types;
    const std::string type = definition.key();
    CHECK_MESSAGE((names(type) || type == "end"), type);
    for (const auto& entry : keys.items()) {
      const std::string key = entry.key();
      CHECK_MESSAGE((key == "type" || names(key)), key);
    }
  }
  CHECK(types > 40);
}

}  // namespace
}  // namespace graphkit
