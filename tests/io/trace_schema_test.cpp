// The format is written down three times: in the records' fields, in the JSON Schema, and for
// people in docs/format.md. They must name the same keys.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "libgraphkit/io/record_types.h"

namespace graphkit {
namespace {

using Keys = std::set<std::string>;

// Collects the keys of one type of record.
struct KeyCollector {
  Keys all = {"type", "t", "src"};
  Keys required = {"type"};

  void Required(std::string_view key, auto&&) {
    all.emplace(key);
    required.emplace(key);
  }
  void Always(std::string_view key, auto&&) { all.emplace(key); }
  void Optional(std::string_view key, auto&&...) { all.emplace(key); }
  void Present(std::string_view key, bool, auto&&) { all.emplace(key); }
};

template <typename Record>
KeyCollector KeysOf() {
  KeyCollector keys;
  Record record;
  record.Fields(keys);
  return keys;
}

// Calls `check` with the name and the keys of each type of record.
template <typename Check, typename... Records>
void ForEachType(RecordList<Records...>, Check check) {
  (check(std::string(Records::kType), KeysOf<Records>()), ...);
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("the JSON Schema has the keys of each record") {
  const auto schema = nlohmann::json::parse(ReadText(GRAPHKIT_TESTDATA "/trace.schema.json"));
  Keys types;
  ForEachType(RecordTypes(), [&](const std::string& type, const KeyCollector& keys) {
    CAPTURE(type);
    types.insert(type);
    REQUIRE(schema["$defs"].contains(type));
    const auto& definition = schema["$defs"][type];
    CHECK(definition["required"].get<Keys>() == keys.required);
    Keys properties;
    for (const auto& [key, value] : definition["properties"].items()) properties.insert(key);
    CHECK(properties == keys.all);
  });
  Keys dispatched;
  for (const auto& choice : schema["$defs"]["record"]["allOf"]) {
    dispatched.insert(choice["if"]["properties"]["type"]["const"].get<std::string>());
  }
  CHECK(dispatched == types);
}

TEST_CASE("docs/format.md names every type of record and every key") {
  const std::string page = ReadText(GRAPHKIT_TESTDATA "/../docs/format.md");
  const auto names = [&](const std::string& word) {
    return page.find('`' + word + '`') != std::string::npos;
  };
  ForEachType(RecordTypes(), [&](const std::string& type, const KeyCollector& keys) {
    CHECK_MESSAGE((names(type) || type == "end"), type);
    for (const std::string& key : keys.all) CHECK_MESSAGE((key == "type" || names(key)), key);
  });
}

}  // namespace
}  // namespace graphkit
