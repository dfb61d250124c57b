// Writing a trace from inside a program: growth, and what is left when it is cut off.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "plugins/cupti_tracer/ground/record_file.h"

namespace graphkit {
namespace {

class Folder {
 public:
  Folder() {
    path_ = std::filesystem::temp_directory_path() /
            ("graphkit_record_file_" + std::to_string(getpid()));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string Note(int number) {
  NoteRecord note;
  note.text = "number " + std::to_string(number);
  RecordLine line;
  return std::string(FieldWriter(line, BorrowedValues()).Write(note));
}

TEST_CASE("a finished file is whole, and the reader takes it") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft"));
  CHECK(file.Append(Note(0)) != RecordFile::kDropped);
  REQUIRE(file.Finish({}));
  CHECK(ReadAll(folder / "t.json") ==
        "{\"schema\":\"graphkit-trace\",\"version\":1,\"device\":\"soft\",\"records\":[\n"
        "{\"type\":\"note\",\"text\":\"number 0\"},\n"
        "{\"type\":\"end\",\"records\":1,\"graphs\":0,\"nodes\":0,\"edges\":0,\"blocks\":0,"
        "\"launches\":0}]}\n");
  const auto trace = ReadTrace(folder / "t.json");
  REQUIRE(trace.has_value());
  CHECK(trace->completeness.truncated == false);
  CHECK(trace->records == 1);
}

TEST_CASE("a record can be read again at its place") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft"));
  uint64_t first = file.Append(Note(1));
  file.Append(Note(2));
  CHECK(file.Read(first) == Note(1));
}

TEST_CASE("a file that is left alone is read up to its last line, and said to be cut off") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "cuda"));
  for (int i = 0; i < 1000; ++i) file.Append(Note(i));
  // The view of another process while this one has done nothing to end the file.
  const auto trace = ReadTrace(folder / "t.json");
  REQUIRE(trace.has_value());
  CHECK(trace->completeness.truncated);
  CHECK(trace->records == 1000);
}

TEST_CASE("a file grows past every step") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft"));
  const std::string record = "{\"type\":\"future\",\"text\":\"" + std::string(5000, 'x') + "\"}";
  for (int i = 0; i < 5000; ++i) REQUIRE(file.Append(record) != RecordFile::kDropped);
  REQUIRE(file.Finish({}));
  const auto trace = ReadTrace(folder / "t.json");
  REQUIRE(trace.has_value());
  CHECK(trace->records == 5000);
}

// Bytes of a file that this process has mapped and in memory.
size_t ResidentBytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  size_t bytes = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rw-s ") != std::string::npos || line.find(" r--p ") != std::string::npos ||
        line.find(" r-xp ") != std::string::npos || line.find(" rw-p ") != std::string::npos) {
      ours = line.ends_with(path);
    }
    if (ours && line.starts_with("Rss:")) bytes += std::stoull(line.substr(4)) * 1024;
  }
  return bytes;
}

TEST_CASE("a file larger than its buffer is whole, and no more than the buffer is in memory") {
  Folder folder;
  RecordFile file;
  file.SetBuffer(100'000);
  REQUIRE(file.Open(folder / "t.json", "soft"));
  std::vector<uint64_t> places;
  size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    places.push_back(file.Append(Note(i)));
    if (i % 1000 == 0) most = std::max(most, ResidentBytes(folder / "t.json"));
  }
  CHECK(most > 0);
  CHECK(most <= 108'000);  // and the pages at its ends
  CHECK(file.Read(places[0]) == Note(0));
  CHECK(file.Read(places[19'999]) == Note(19'999));
  REQUIRE(file.Finish({}));
  const auto trace = ReadTrace(folder / "t.json");
  REQUIRE(trace.has_value());
  CHECK(trace->records == 20'000);
}

TEST_CASE("what doesn't fit is counted, and nothing comes after it") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft", 8192));
  int kept = 0;
  for (int i = 0; i < 1000; ++i) kept += file.Append(Note(i)) != RecordFile::kDropped;
  CHECK(kept > 10);
  CHECK(file.dropped() == static_cast<uint64_t>(1000 - kept));
  CHECK(file.error() == "the trace has reached its size limit");
  REQUIRE(file.Finish({}));
  CHECK(std::filesystem::file_size(folder / "t.json") <= 8192);
  const auto trace = ReadTrace(folder / "t.json");
  REQUIRE(trace.has_value());
  CHECK(trace->completeness.dropped_records == static_cast<uint64_t>(1000 - kept));
}

const std::string kLongRecord = "{\"type\":\"future\",\"text\":\"" + std::string(5000, 'x') + "\"}";

TEST_CASE("a file grows under the name that it was given") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "new.tmp", "soft"));
  REQUIRE(file.Rename(folder / "t.json"));
  for (int i = 0; i < 1000; ++i) REQUIRE(file.Append(kLongRecord) != RecordFile::kDropped);
  REQUIRE(file.Finish({}));
  CHECK(ReadTrace(folder / "t.json")->records == 1000);
}

TEST_CASE("what stands at the place of a file, or is linked to from there, is left alone") {
  Folder folder;
  std::ofstream(folder / "t.json") << "another";
  std::filesystem::create_symlink("t.json", folder / "link.json");
  RecordFile file;
  CHECK_FALSE(file.Open(folder / "t.json", "soft"));
  CHECK_FALSE(file.Open(folder / "link.json", "soft"));
  CHECK(ReadAll(folder / "t.json") == "another");
}

TEST_CASE("a file that was moved ends where it is, and the one in its place is left alone") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft"));
  file.Append(Note(0));
  std::filesystem::rename(folder / "t.json", folder / "moved.json");
  std::ofstream(folder / "t.json") << "another";
  for (int i = 0; i < 1000; ++i) file.Append(kLongRecord);
  CHECK(file.dropped() > 0);
  CHECK(file.error() == (folder / "t.json") + " was replaced by another file");
  REQUIRE(file.Finish({}));
  CHECK(ReadAll(folder / "t.json") == "another");
  const auto trace = ReadTrace(folder / "moved.json");
  REQUIRE(trace.has_value());
  CHECK(trace->completeness.truncated == false);
  CHECK(trace->completeness.dropped_records == file.dropped());
}

TEST_CASE("a file that is cut short isn't written any more") {
  Folder folder;
  RecordFile file;
  REQUIRE(file.Open(folder / "t.json", "soft"));
  file.Append(Note(0));
  std::filesystem::resize_file(folder / "t.json", 1 << 18);  // behind it stores raise SIGBUS
  for (int i = 0; i < 1000; ++i) file.Append(kLongRecord);
  CHECK(file.cut_short());
  CHECK(file.dropped() > 900);
  CHECK_FALSE(file.Finish({}));
  CHECK(std::filesystem::file_size(folder / "t.json") == 1 << 18);
}

TEST_CASE("a place that can't be written says why") {
  RecordFile file;
  CHECK_FALSE(file.Open("/proc/nowhere/t.json", "soft"));
  CHECK(file.error() == "cannot create /proc/nowhere/t.json: No such file or directory");
}

}  // namespace
}  // namespace graphkit
