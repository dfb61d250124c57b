#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/profile.h"

namespace graphkit {
namespace {

Error NoSqlite() {
  return {.message = "this graphkit was built without SQLite",
          .hint = "install libsqlite3-dev and build again",
          .kind = Error::Kind::kUnsupported};
}

}  // namespace

Result<Imported> ReadNsys(std::string_view) { return NoSqlite(); }

Result<void> ReadNsysReplays(std::string_view, Profile*) { return NoSqlite(); }

}  // namespace graphkit
