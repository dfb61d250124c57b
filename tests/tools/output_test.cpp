#include "tools/graphkit/files/output.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

// An empty folder, gone at the end.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "output_test.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void WriteHello(std::ostream& out) { out << "hello\n"; }

}  // namespace

TEST_CASE("a file appears whole, with the mode it had, and nothing is left beside it") {
  const Folder folder;
  const fs::path file = folder.path / "out.txt";
  std::ofstream(file) << "old";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  REQUIRE(WriteOutput(file.string(), WriteHello));
  CHECK(Read(file) == "hello\n");
  struct stat info {};
  REQUIRE(stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("what can't be written is an error, and the old file stays") {
  const Folder folder;
  const fs::path file = folder.path / "out.txt";
  std::ofstream(file) << "old";
  const auto fail = [](std::ostream& out) { out.setstate(std::ios::badbit); };
  const Result<void> written = WriteOutput(file.string(), fail);
  REQUIRE_FALSE(written);
  CHECK(written.error().file == file.string());
  CHECK(written.error().kind == Error::Kind::kSystem);
  CHECK(Read(file) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
  CHECK_FALSE(WriteOutput((folder.path / "missing" / "x").string(), WriteHello));
  CHECK_FALSE(WriteOutput(folder.path.string(), WriteHello));
  CHECK_FALSE(WriteOutput("/dev/full", WriteHello));
}

TEST_CASE("what ends in .zst is compressed, and read again as it was") {
  const Folder folder;
  const std::string file = (folder.path / "out.json.zst").string();
  REQUIRE(WriteOutput(file, WriteHello));
  CHECK(Read(file).starts_with("\x28\xb5\x2f\xfd"));
  CHECK(*ReadSmallFile(file) == "hello\n");
}

TEST_CASE("a link stays a link, and what it points to is replaced") {
  const Folder folder;
  const fs::path file = folder.path / "out.txt", link = folder.path / "link";
  std::ofstream(file) << "old";
  fs::create_symlink("out.txt", link);
  REQUIRE(WriteOutput(link.string(), WriteHello));
  CHECK(fs::is_symlink(link));
  CHECK(Read(file) == "hello\n");
}

}  // namespace graphkit
