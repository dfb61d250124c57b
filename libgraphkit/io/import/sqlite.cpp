#include "libgraphkit/io/import/sqlite.h"

namespace graphkit {
namespace {

constexpr int kStepsBetweenLooks = 1'000'000;  // of SQLite's machine
constexpr int64_t kMostLooks = 20'000;

// Ends a query that a damaged schema lets run for ever.
int CountLooks(void* looks) { return ++*static_cast<int64_t*>(looks) > kMostLooks ? 1 : 0; }

}  // namespace

SqliteRows::SqliteRows(sqlite3* database, const std::string& query) {
  sqlite3_stmt* statement = nullptr;
  failed_ = sqlite3_prepare_v2(database, query.c_str(), static_cast<int>(query.size()), &statement,
                               nullptr) != SQLITE_OK;
  statement_.reset(statement);
}

bool SqliteRows::Next() {
  if (failed_ || !statement_) return false;
  const int status = sqlite3_step(statement_.get());
  failed_ = status != SQLITE_ROW && status != SQLITE_DONE;
  return status == SQLITE_ROW;
}

std::string_view SqliteRows::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (!text) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<SqliteDatabase> SqliteDatabase::Open(std::string_view bytes) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE, nullptr);
  SqliteDatabase database(opened);
  if (status != SQLITE_OK) {
    return Error{.message = "SQLite can't be started", .kind = Error::Kind::kSystem};
  }
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 64 << 20);
  static thread_local int64_t looks = 0;
  looks = 0;
  sqlite3_progress_handler(opened, kStepsBetweenLooks, CountLooks, &looks);
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int loaded =
      sqlite3_deserialize(opened, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (loaded != SQLITE_OK || !database.HasTable("sqlite_master")) {
    return Error{.message = "not a sound SQLite database",
                 .hint = "export it again: nsys export --type sqlite"};
  }
  return database;
}

bool SqliteDatabase::HasTable(const std::string& table) const {
  if (table == "sqlite_master") {
    SqliteRows rows = Query("SELECT count(*) FROM sqlite_master");
    return rows.Next();
  }
  return Query("SELECT 1 FROM sqlite_master WHERE type='table' AND name='" + table + "'").Next();
}

bool SqliteDatabase::HasColumn(const std::string& table, const std::string& column) const {
  return Query("SELECT 1 FROM pragma_table_info('" + table + "') WHERE name='" + column + "'")
      .Next();
}

}  // namespace graphkit
