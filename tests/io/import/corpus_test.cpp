// The inputs that fuzzing kept (tests/fuzz/corpus), and random changes of them: each gives a trace
// or an error, and the trace can be written and reads back as itself. The long runs are those of
// libFuzzer.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "tests/random.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

// The files of a format's corpus, in the order of their names.
std::vector<std::string> Corpus(const std::string& format) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(GRAPHKIT_CORPUS + ("/" + format))) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> files;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

// Reads whatever it is; a trace that comes of it has to stand its own reader.
void ReadAnything(const FileFormat& format, std::string bytes) {
  bytes.reserve(bytes.size() + kReadPadding);
  const Result<Imported> imported = format.read(bytes);
  if (!imported) {
    CHECK_FALSE(imported.error().message.empty());
    return;
  }
  const Result<std::string> written = FormatTrace(imported->trace);
  REQUIRE_MESSAGE(written.has_value(), Describe(written.error()));
  const Result<Trace> again = ParseTrace(*written, "test");
  REQUIRE_MESSAGE(again.has_value(), Describe(again.error()));
}

std::string Changed(std::string bytes, const std::string& other, std::mt19937_64& random) {
  const auto below = [&random](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (size_t change = 0; change < 1 + below(4) && !bytes.empty(); ++change) {
    const size_t at = below(bytes.size());
    const size_t length = below(std::min<size_t>(bytes.size() - at, 16));
    const size_t from = below(other.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, other, from, below(32));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

TEST_CASE("what fuzzing kept, whole, cut and changed, gives a trace or an error") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const FileFormat& format : FileFormats()) {
    if (format.read == nullptr) continue;
    CAPTURE(format.name);
    const std::vector<std::string> files = Corpus(format.name);
    REQUIRE_FALSE(files.empty());
    for (const std::string& file : files) ReadAnything(format, file);
    const bool slow = std::string(format.name) == "nsys";  // opens a database each time
    for (int round = 0; round < RandomRounds(slow ? 50 : 400); ++round) {
      CAPTURE(round);
      const std::string& file = files[random() % files.size()];
      ReadAnything(format, Changed(file, files[random() % files.size()], random));
    }
  }
}

}  // namespace
}  // namespace graphkit
