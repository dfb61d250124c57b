#include "tools/graphkit/cli/merge_talk.h"

#include <algorithm>

#include "libgraphkit/units.h"

namespace graphkit {

std::string Shown(const NotJoined& left) {
  constexpr size_t kShown = 3;
  std::string line = "not joined: " + FormatCount(left.count) + " " + left.what + ": ";
  for (size_t i = 0; i < std::min(kShown, left.examples.size()); ++i) {
    line += (i == 0 ? "" : ", ") + left.examples[i];
  }
  return left.count > kShown ? line + ", …" : line;
}

}  // namespace graphkit
