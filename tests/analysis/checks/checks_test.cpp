#include "libgraphkit/analysis/checks/checks.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

namespace graphkit {
namespace {

const std::filesystem::path kSource = std::filesystem::path(GRAPHKIT_TESTDATA).parent_path();

TEST_CASE("every check has its page and its test") {
  for (const Check& check : AllChecks()) {
    const std::string id(check.id);
    CAPTURE(id);
    CHECK(std::filesystem::exists(kSource / "docs/checks" / (id + ".md")));
    std::string test = id + "_test.cpp";
    std::replace(test.begin(), test.end(), '-', '_');
    CHECK(std::filesystem::exists(kSource / "tests/analysis/checks" / test));
  }
}

TEST_CASE("every page belongs to a check") {
  for (const auto& page : std::filesystem::directory_iterator(kSource / "docs/checks")) {
    const std::string id = page.path().stem().string();
    CAPTURE(id);
    CHECK((id == "index" || FindCheck(id) != nullptr));
  }
}

TEST_CASE("ids are unique, kebab-case, and found") {
  std::set<std::string_view> ids;
  for (const Check& check : AllChecks()) {
    CHECK(ids.insert(check.id).second);
    CHECK(check.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(FindCheck(check.id) == &check);
  }
  CHECK(FindCheck("no-such-check") == nullptr);
}

TEST_CASE("what was meant begins so, has it inside, or is a few letters away") {
  CHECK(NearestCheck("exec-leek") == FindCheck("exec-leak"));
  CHECK(NearestCheck("deferred") == FindCheck("deferred-record-stream"));
  CHECK(NearestCheck("record-stream") == FindCheck("deferred-record-stream"));
  CHECK(NearestCheck("missed-by-pool") == FindCheck("reuse-opportunity"));
  CHECK(NearestCheck("bogus") == nullptr);
  CHECK(NearestCheck("") == nullptr);
}

}  // namespace
}  // namespace graphkit
