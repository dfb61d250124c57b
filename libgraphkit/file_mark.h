// A file, told from one that later has its name.
#pragma once

#include <sys/stat.h>

#include <string>

namespace graphkit {

// Stays until the file is written to or replaced. The inode isn't enough: a file system gives the
// number of a file that is gone to the next one.
inline std::string FileMark(const struct stat& status) {
  return std::to_string(status.st_ino) + "." + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

// Empty: there is no such file.
inline std::string FileMark(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? FileMark(status) : "";
}

}  // namespace graphkit
