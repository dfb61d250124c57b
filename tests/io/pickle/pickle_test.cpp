#include "libgraphkit/io/pickle/pickle.h"

#include <doctest/doctest.h>

#include <string>

namespace graphkit {
namespace {

using std::string_literals::operator""s;

// The output of Python's repr, enough of it to compare.
std::string Repr(const PickleValue& value);

std::string Join(const PickleValue& value, const char* open, const char* close) {
  std::string out = open;
  const bool dict = value.is(PickleType::kDict);
  for (size_t i = 0; i < value.items().size(); ++i) {
    if (i) out += dict && i % 2 ? ": " : ", ";
    out += Repr(value.items()[i]);
  }
  return out + close;
}

std::string Repr(const PickleValue& value) {
  switch (value.type) {
    case PickleType::kNone:
      return "None";
    case PickleType::kBool:
      return value.integer ? "True" : "False";
    case PickleType::kInt:
      return std::to_string(value.integer);
    case PickleType::kUint:
      return std::to_string(value.natural);
    case PickleType::kBigInt:
      return "big" + std::to_string(value.length);
    case PickleType::kFloat:
      return std::to_string(value.real);
    case PickleType::kString:
      return "'" + std::string(value.text()) + "'";
    case PickleType::kBytes:
      return "b'" + std::string(value.text()) + "'";
    case PickleType::kList:
      return Join(value, "[", "]");
    case PickleType::kTuple:
      return Join(value, "(", ")");
    case PickleType::kDict:
    case PickleType::kSet:
      return Join(value, "{", "}");
    case PickleType::kTaken:
      return "taken " + std::to_string(value.natural) + "+" + std::to_string(value.length);
  }
  return "?";
}

std::string Read(const std::string& bytes) {
  Result<PickleDocument> document = ReadPickle(bytes);
  return document ? Repr(document->root) : Describe(document.error());
}

// Takes every dict that has a key 'a'.
class TakeA final : public PickleTaker {
 public:
  bool Take(std::span<const PickleValue> entries) override {
    if (entries[0].text() != "a") return false;
    taken.push_back(entries[1].integer);
    return true;
  }
  std::vector<int64_t> taken;
};

TEST_CASE("dicts can be taken out while the pickle is read") {
  // [{'a': 1}, {'b': 2}, {'a': 3}, {'a': 4}], and the first one again
  const std::string bytes =
      "\x80\x04](}q\x01\x8c\x01"
      "aK\x01s}\x8c\x01"
      "bK\x02s}\x8c\x01"
      "aK\x03s}\x8c\x01"
      "aK\x04sh\x01"
      "e.";
  TakeA taker;
  const Result<PickleDocument> document = ReadPickle(bytes, &taker);
  REQUIRE(document.has_value());
  CHECK(taker.taken == std::vector<int64_t>{1, 3, 4});
  CHECK(Repr(document->root) == "[taken 0+1, {'b': 2}, taken 1+2, taken 0+1]");
}

TEST_CASE("nothing can be added to a dict that was taken") {
  // {'a': 1}, then 'b': 2
  const std::string bytes =
      "\x80\x04}\x8c\x01"
      "aK\x01s\x8c\x01"
      "bK\x02s.";
  TakeA taker;
  CHECK_FALSE(ReadPickle(bytes, &taker).has_value());
  CHECK(Read(bytes) == "{'a': 1, 'b': 2}");
}

TEST_CASE("plain values of every kind are read") {
  CHECK(Read("\x80\x04N.") == "None");
  CHECK(Read("\x80\x02\x88.") == "True");
  CHECK(Read("\x80\x02K\x07.") == "7");
  CHECK(Read("\x80\x02M\x01\x02.") == "513");
  CHECK(Read("\x80\x02J\xfe\xff\xff\xff.") == "-2");
  CHECK(Read("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."s) == "-9223372036854775808");
  CHECK(Read("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s) == "18446744073709551615");
  CHECK(Read("\x80\x02\x8a\x00."s) == "0");
  CHECK(Read("\x80\x02\x8a\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a."s) == "big10");
  CHECK(Read("\x80\x02G\x3f\xf8\x00\x00\x00\x00\x00\x00."s) == "1.500000");
  CHECK(Read("\x80\x04\x8c\x02hi.") == "'hi'");
  CHECK(Read("\x80\x03"s + "C\x02hi.") == "b'hi'");
  CHECK(Read("\x80\x04\x85."s) ==
        "not a sound pickle: the opcode takes more values than there are at byte 2");
}

TEST_CASE("containers nest and refer to each other") {
  // [1, 2]
  CHECK(Read("\x80\x04]\x94(K\x01K\x02"
             "e.") == "[1, 2]");
  // {'a': (1, None), 'b': {}}, without the memo
  CHECK(Read("\x80\x04}(\x8c\x01"
             "aK\x01N\x86\x8c\x01"
             "b}u.") == "{'a': (1, None), 'b': {}}");
  // x = []; [x, x], with x filled after both were put in
  CHECK(Read("\x80\x04](]\x94h\x00"
             "eh\x00K\x05"s
             "a0.") == "[[5], [5]]"s);
  // Protocol 2: BINPUT, MARK TUPLE, LIST, DICT, SETITEM, APPEND, POP_MARK, DUP
  CHECK(Read("\x80\x02(K\x01K\x02K\x03tq\x00"
             "0h\x00."s) == "(1, 2, 3)");
  CHECK(Read("\x80\x02((K\x01l(K\x02K\x03"
             "dt.") == "([1], {2: 3})");
  CHECK(Read("\x80\x02}K\x01K\x02s.") == "{1: 2}");
  CHECK(Read("\x80\x02K\x09(K\x01K\x02"
             "1.") == "9");
  CHECK(Read("\x80\x02K\x09"
             "2\x86.") == "(9, 9)");
  CHECK(Read("\x80\x04\x8f(K\x01\x90.") == "{1}");
}

TEST_CASE("of equal keys the last one counts, and only strings are found") {
  const std::string bytes =
      "\x80\x04}(\x8c\x01"
      "aK\x01\x8c\x01"
      "aK\x02K\x03K\x04u.";
  const Result<PickleDocument> document = ReadPickle(bytes);
  REQUIRE(document.has_value());
  REQUIRE(document->root.find("a") != nullptr);
  CHECK(document->root.find("a")->integer == 2);
  CHECK(document->root.find("b") == nullptr);
  CHECK(PickleValue{}.find("a") == nullptr);
}

TEST_CASE("whatever would name or run code is refused, with its place") {
  const Result<PickleDocument> global = ReadPickle("\x80\x02]cos\nsystem\n.");
  REQUIRE_FALSE(global.has_value());
  CHECK(global.error() ==
        Error{.message = "the pickle holds more than plain data: opcode GLOBAL",
              .hint = "only dicts, lists, numbers and strings are read; nothing in it is run",
              .offset = 3});
  for (const char op : {'R', 'b', 'i', 'o', 'P', 'Q', '\x81', '\x92', '\x93', '\x82', '\x97'}) {
    const Result<PickleDocument> refused = ReadPickle("\x80\x04]]]"s + op);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().offset == 5);
    CHECK(refused.error().kind == Error::Kind::kInput);
  }
}

TEST_CASE("nonsense is refused, with its place") {
  CHECK(Read("\x80\x09N.") == "not a sound pickle: the opcode says protocol 9 at byte 0");
  CHECK(Read("{\"a\": 1}") == "not a pickle of protocol 2 to 5: unknown opcode 0x7b at byte 0");
  CHECK(Read("\x80\x04h\x05.") ==
        "not a sound pickle: the opcode reads an empty memo place at byte 2");
  CHECK(Read("\x80\x02Nr\xff\xff\xff\x7f.") ==
        "not a sound pickle: the opcode uses a memo place beyond the file's size at byte 3");
  CHECK(Read("\x80\x04N(N.") ==
        "not a sound pickle: the opcode ends the pickle inside a container at byte 5");
  CHECK(Read("\x80\x04N(s.") ==
        "not a sound pickle: the opcode takes more values than there are at byte 4");
  CHECK(Read("\x80\x04}(Ku.").find("needs") == std::string::npos);
  CHECK(Read("\x80\x04}(NNNu.") ==
        "not a sound pickle: the opcode has a key without a value at byte 7");
  CHECK(Read("\x80\x04K\x01Na.") ==
        "not a sound pickle: the opcode adds to a value of another type at byte 5");
  CHECK(Read("\x80\x04t.") ==
        "not a sound pickle: the opcode needs a mark that isn't there at byte 2");
}

TEST_CASE("a pickle that ends early is incomplete, not bad") {
  const std::string whole = "\x80\x04\x95\x0a\x00\x00\x00\x00\x00\x00\x00](K\x01\x8c\x02hie."s;
  CHECK(Read(whole) == "[1, 'hi']");
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const Result<PickleDocument> cut = ReadPickle(std::string_view(whole).substr(0, size));
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().kind == Error::Kind::kIncomplete);
    CHECK(cut.error().offset == size);
  }
}

TEST_CASE("sizes that the file can't hold are refused before memory is taken") {
  CHECK(Read("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx."s).find("ends in the middle") !=
        std::string::npos);
  CHECK(Read("\x80\x04T\xff\xff\xff\xffx."s).find("ends in the middle") != std::string::npos);
}

}  // namespace
}  // namespace graphkit
