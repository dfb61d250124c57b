// A SQLite database in memory, read by queries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "libgraphkit/result.h"

namespace graphkit {

class SqliteRows {
 public:
  SqliteRows(sqlite3* database, const std::string& query);
  bool Next();  // false: no more rows, or an error
  bool failed() const { return failed_; }
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  std::string_view Text(int column) const;

 private:
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_{nullptr, &sqlite3_finalize};
  bool failed_ = false;
};

// Reads bytes that stay where they are; nothing is written.
class SqliteDatabase {
 public:
  static Result<SqliteDatabase> Open(std::string_view bytes);

  bool HasColumn(const std::string& table, const std::string& column) const;
  bool HasTable(const std::string& table) const;
  // `query` is made of constants only. Each value is bound to nothing: there are no parameters.
  SqliteRows Query(const std::string& query) const { return {database_.get(), query}; }

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database, &sqlite3_close) {}

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database_;
};

}  // namespace graphkit
