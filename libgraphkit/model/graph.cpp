#include "libgraphkit/model/graph.h"

#include "libgraphkit/model/names.h"

namespace graphkit {

const char* NodeKindName(NodeKind kind) { return NameOf(kind).data(); }

}  // namespace graphkit
