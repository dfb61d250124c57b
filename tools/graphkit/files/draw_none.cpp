// For builds without Graphviz.
#include "tools/graphkit/files/output.h"

namespace graphkit {

Result<std::string> Draw(const std::string&, const std::string& format) {
  return Error{.message = "can't draw " + format + ": graphkit was built without Graphviz",
               .hint = "write DOT with -o FILE.dot and draw it with dot -T" + format +
                       ", or build with libgraphviz-dev installed",
               .kind = Error::Kind::kUnsupported};
}

}  // namespace graphkit
