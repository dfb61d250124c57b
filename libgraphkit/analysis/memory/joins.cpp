#include "libgraphkit/analysis/memory/joins.h"

#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {

BlockJoins CountJoins(const MemoryFacts& facts) {
  const Trace& trace = facts.trace;
  BlockJoins joins;
  for (const std::vector<BlockId>& blocks : facts.blocks()) {
    for (const BlockId id : blocks) {
      const Block& block = trace[id];
      const bool no_stack = !block.stack.valid();
      const bool library_only = !no_stack && !CallSiteOf(trace, block.stack).own;
      const bool no_node = facts.lives().Touches(id).empty();
      const bool unread = no_node && facts.lives()[id].escaped;
      ++joins.captured_blocks;
      joins.without_stream += block.stream.valid() ? 0 : 1;
      joins.without_stack += no_stack ? 1 : 0;
      joins.library_only += library_only ? 1 : 0;
      joins.untouched += no_node && !unread ? 1 : 0;
      joins.unread += unread ? 1 : 0;
      const bool joined = block.stream.valid() && !no_stack && !library_only && !no_node;
      joins.joined += joined ? 1 : 0;
    }
  }
  return joins;
}

}  // namespace graphkit
