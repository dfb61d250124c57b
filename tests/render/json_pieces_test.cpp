#include "libgraphkit/render/json_pieces.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/random.h"

namespace graphkit {
namespace {

// Values as deep as that, texts with what has to be escaped among them.
Json AnyJson(std::mt19937_64& random, int depth) {
  switch (depth == 0 ? (random() % 3) : (random() % 5)) {
    case 0:
      return (random() % 1000);
    case 1:
      return nullptr;
    case 2:
      return "a \"b\"\n\\ ü" + std::to_string((random() % 10));
    case 3: {
      Json list = Json::array();
      for (uint64_t i = (random() % 4); i > 0; --i) list.push_back(AnyJson(random, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (uint64_t i = (random() % 4); i > 0; --i) {
        object["key " + std::to_string(i)] = AnyJson(random, depth - 1);
      }
      return object;
    }
  }
}

// Value by value.
void WriteValue(const Json& value, JsonPieces& text) {
  if (value.is_object() || value.is_array()) {
    text.Begin(value.is_object() ? '{' : '[');
    for (const auto& [key, item] : value.items()) {
      if (value.is_object()) text.Key(key);
      WriteValue(item, text);
    }
    text.End(value.is_object() ? '}' : ']');
  } else if (value.is_string()) {
    text.Value(value.get<std::string>());
  } else if (value.is_boolean()) {
    text.Value(value.get<bool>());
  } else if (value.is_number_unsigned()) {
    text.Value(value.get<uint64_t>());
  } else {
    text.Value(NodeId());
  }
}

TEST_CASE("an object written piece by piece is the object dumped whole") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(500); ++round) {
    for (const int indent : {-1, 0, 1, 2}) {
      CAPTURE(indent);
      Json whole = Json::object();
      std::ostringstream out;
      JsonPieces pieces(out, indent);
      pieces.Begin('{');
      for (uint64_t i = (random() % 4); i > 0; --i) {
        const std::string name = "member " + std::to_string(i);
        const Json value = AnyJson(random, 3);
        whole[name] = value;
        pieces.Add(name, value);
      }
      std::vector<Json> list;
      for (uint64_t i = (random() % 4); i > 0; --i) list.push_back(AnyJson(random, 3));
      whole["texts"] = list;
      pieces.Key("texts");
      pieces.Begin('[');
      for (const Json& value : list) WriteValue(value, pieces);
      pieces.End(']');
      pieces.End('}');
      REQUIRE(out.str() == Dump(whole, indent));
    }
  }
}

// Two members of a value, and what else objects are made of.
struct Point {
  uint32_t x = 0;
  std::optional<uint64_t> y;
};

TEST_CASE("members, objects and lists of them are those dumped whole") {
  const std::vector<Point> points = {{7, 0xffffffffffffffff}, {0, std::nullopt}};
  for (const int indent : {-1, 0, 2}) {
    CAPTURE(indent);
    std::ostringstream out;
    JsonPieces json(out, indent);
    json.Begin('{');
    json.AddObject("value", [&] {
      json.AddObjects("points", points,
                      [&](const Point& point) { GRAPHKIT_WRITE_MEMBERS(json, point, x, y); });
      json.AddObjects("none", std::vector<Point>(), [](const Point&) {});
      json.AddObject("inner", [&] { json.Add("yes", true); });
      json.AddObject("empty", [] {});
      json.Key("list");
      json.Values(NodeId(3u), "a \"b\" ü", NodeId());
      json.Key("nothing");
      json.Null();
    });
    json.End('}');
    const Json whole = {
        {"value",
         {{"points", {{{"x", 7}, {"y", 0xffffffffffffffff}}, {{"x", 0}, {"y", nullptr}}}},
          {"none", Json::array()},
          {"inner", {{"yes", true}}},
          {"empty", Json::object()},
          {"list", {3, "a \"b\" ü", nullptr}},
          {"nothing", nullptr}}}};
    CHECK(out.str() == Dump(whole, indent));
  }
}

TEST_CASE("an object without members is a pair of braces") {
  std::ostringstream out;
  JsonPieces json(out, 2);
  json.Begin('{');
  json.End('}');
  CHECK(out.str() == "{}");
}

}  // namespace
}  // namespace graphkit
