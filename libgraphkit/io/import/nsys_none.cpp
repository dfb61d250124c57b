#include "libgraphkit/io/import/file_format.h"

namespace graphkit {

Result<Imported> ReadNsys(std::string_view) {
  return Error{.message = "this graphkit was built without SQLite",
               .hint = "install libsqlite3-dev and build again",
               .kind = Error::Kind::kUnsupported};
}

}  // namespace graphkit
