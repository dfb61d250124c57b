#include "libgraphkit/render/report/packed_columns.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/random.h"

namespace graphkit {
namespace {

// Takes a column apart as the page does.
std::vector<uint64_t> Unpack(const std::string& bytes, size_t& at, size_t count) {
  std::vector<uint64_t> values;
  uint64_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    last += (number & 1) != 0 ? ~(number >> 1) : number >> 1;
    values.push_back(last);
  }
  return values;
}

std::string Bytes(const PackedColumns& columns) {
  std::string bytes;
  columns.AppendTo(bytes);
  return bytes;
}

TEST_CASE("a column is its differences in zigzag, seven bits to a byte") {
  PackedColumns columns;
  columns.Begin("x");
  for (const uint64_t value : {5u, 5u, 3u, 131u}) columns.Add(value);
  CHECK(Bytes(columns) == std::string("\x0a\x00\x03\x80\x02", 5));
  CHECK(columns.columns() == std::vector<PackedColumns::Column>{{"x", 4, false}});
}

TEST_CASE("random columns come back as they were") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    PackedColumns columns;
    std::vector<uint64_t> values;
    const uint64_t most = uint64_t{1} << random() % 53;
    for (size_t i = 0; i < random() % 200; ++i) values.push_back(random() % most);
    columns.AddAll("values", values, [](uint64_t value) { return value; });
    columns.AddAll("again", values, [](uint64_t value) { return value; });
    size_t at = 0;
    REQUIRE(Unpack(Bytes(columns), at, values.size()) == values);
    REQUIRE(Unpack(Bytes(columns), at, values.size()) == values);
    REQUIRE(at == Bytes(columns).size());
  }
}

TEST_CASE("columns of more than one piece come back as they were") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values(200'000);
  for (uint64_t& value : values) value = random() >> random() % 64;
  PackedColumns columns;
  columns.AddAll("values", values, [](uint64_t value) { return value; });
  size_t at = 0;
  const std::string bytes = Bytes(columns);
  CHECK(Unpack(bytes, at, values.size()) == values);
  CHECK(at == bytes.size());
}

TEST_CASE("a column with a number that takes more than 32 bits is wide") {
  PackedColumns columns;
  columns.Begin("address");
  columns.Add(uint64_t{1} << 32);
  CHECK(columns.columns().front().wide);
}

TEST_CASE("deflated bytes inflate to what they were") {
  const std::string text(100'000, 'x');
  const std::string deflated = Deflate(text);
  std::string inflated(text.size(), '\0');
  uLongf size = inflated.size();
  CHECK(uncompress(reinterpret_cast<Bytef*>(inflated.data()), &size,
                   reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()) == Z_OK);
  CHECK(inflated == text);
  CHECK(deflated.size() < 1000);
}

TEST_CASE("what is deflated inflates as it was, whatever its size") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const size_t size :
       std::vector<size_t>{0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20}) {
    CAPTURE(size);
    std::string noise(size, '\0');  // gets longer
    for (char& byte : noise) byte = static_cast<char>(random());
    for (const std::string& bytes : {noise, std::string(size, 'x')}) {
      const std::string deflated = Deflate(bytes);
      std::string inflated(size, '\0');
      uLongf inflated_size = size;
      REQUIRE(uncompress(reinterpret_cast<Bytef*>(inflated.data()), &inflated_size,
                         reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()) == Z_OK);
      REQUIRE(inflated_size == size);
      REQUIRE(inflated == bytes);
    }
  }
}

TEST_CASE("base64 is that of RFC 4648, section 10") {
  CHECK(Base64("") == "");
  CHECK(Base64("f") == "Zg==");
  CHECK(Base64("fo") == "Zm8=");
  CHECK(Base64("foo") == "Zm9v");
  CHECK(Base64("foobar") == "Zm9vYmFy");
  CHECK(Base64("\xff\xfe\xfd") == "//79");
}

}  // namespace
}  // namespace graphkit
