// The name of a file that isn't whole yet.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace graphkit {

// "trace.json.9f86d081884c7d65.tmp", beside the file that it will be. Random, and to be created
// with O_EXCL | O_NOFOLLOW: in a folder that others write to, no file or link of theirs can wait
// there.
inline std::string TemporaryName(const std::string& path) {
  uint64_t number = 0;
  if (getentropy(&number, sizeof number) != 0) number = static_cast<uint64_t>(getpid());
  char middle[32];
  std::snprintf(middle, sizeof middle, ".%016llx", static_cast<unsigned long long>(number));
  return path + middle + ".tmp";
}

}  // namespace graphkit
