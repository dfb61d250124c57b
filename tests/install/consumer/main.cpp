#include <cstdio>

#include "libgraphkit/units.h"

int main() {
  std::puts(graphkit::FormatBytes(3 << 20).c_str());
  return 0;
}
