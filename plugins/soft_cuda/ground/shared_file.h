// The files that memory is shared with other processes by.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace graphkit::soft {

// The identity of an open file, in any process; 0: it isn't open.
inline uint64_t InodeOf(int file) {
  struct stat about {};
  return fstat(file, &about) == 0 ? about.st_ino : 0;
}

}  // namespace graphkit::soft
