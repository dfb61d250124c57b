// A file that is there as long as the test runs.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace graphkit {

class WrittenFile {
 public:
  explicit WrittenFile(std::string_view text) {
    std::string name = (std::filesystem::temp_directory_path() / "graphkit-XXXXXX").string();
    const int fd = mkstemp(name.data());
    if (fd >= 0) close(fd);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~WrittenFile() { unlink(path_.c_str()); }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace graphkit
