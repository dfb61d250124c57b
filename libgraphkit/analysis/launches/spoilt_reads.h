// Memory that one graph of a pool leaves to another one, and that a third one writes over before a
// launch reads it.
//
//     captures   0: writes x    1: reads x (which is freed then)    2: writes y, where x lay
//     launches   0   1   2   0   2   1      the last one reads what 2 left of x
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

class Facts;

struct SpoiltRead {
  BlockId left;
  GraphId owner;        // that makes it anew
  GraphId writer;       // over it
  GraphId reader;       // or it may read it
  uint32_t launch = 0;  // in Trace::launches: the first that reads it so
};
// By what is left.
std::vector<SpoiltRead> FindSpoiltReads(const Facts& facts);

}  // namespace graphkit
