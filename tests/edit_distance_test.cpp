#include "libgraphkit/edit_distance.h"

#include <doctest/doctest.h>

namespace graphkit {

TEST_CASE("edits are inserts, deletes, replacements and swaps of neighbours") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("abc", "abc") == 0);
  CHECK(EditDistance("analyse", "analyze") == 1);
  CHECK(EditDistance("anaylze", "analyze") == 1);
  CHECK(EditDistance("kitten", "sitting") == 3);
}

}  // namespace graphkit
