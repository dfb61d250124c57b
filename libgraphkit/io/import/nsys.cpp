#include "libgraphkit/io/import/file_format.h"

#include <sqlite3.h>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/kineto_events.h"
#include "libgraphkit/io/import/node_times.h"
#include "libgraphkit/io/import/profile.h"

namespace graphkit {
namespace {

// The rows that a query gives.
class SqliteRows {
 public:
  SqliteRows(sqlite3* database, const std::string& query) {
    sqlite3_stmt* statement = nullptr;
    failed_ = sqlite3_prepare_v2(database, query.c_str(), static_cast<int>(query.size()),
                                 &statement, nullptr) != SQLITE_OK;
    statement_.reset(statement);
  }

  bool Next() {  // false: no more rows, or an error
    if (failed_ || !statement_) return false;
    const int status = sqlite3_step(statement_.get());
    failed_ = status != SQLITE_ROW && status != SQLITE_DONE;
    return status == SQLITE_ROW;
  }
  bool failed() const { return failed_; }
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  uint64_t Natural(int column) const { return static_cast<uint64_t>(Integer(column)); }
  std::string_view Text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    if (!text) return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }

 private:
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_{nullptr, &sqlite3_finalize};
  bool failed_ = false;
};

constexpr int kStepsBetweenLooks = 1'000'000;  // of SQLite's machine
constexpr int64_t kMostLooks = 20'000;

// Ends a query that a damaged schema lets run for ever.
int CountLooks(void* looks) { return ++*static_cast<int64_t*>(looks) > kMostLooks ? 1 : 0; }

// A SQLite database in memory. Reads bytes that stay where they are; nothing is written.
class SqliteDatabase {
 public:
  static Result<SqliteDatabase> Open(std::string_view bytes) {
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
    if (loaded != SQLITE_OK || !database.Query("SELECT count(*) FROM sqlite_master").Next()) {
      return Error{.message = "not a sound SQLite database",
                   .hint = "export it again: nsys export --type sqlite"};
    }
    return database;
  }

  bool HasTable(const std::string& table) const {
    return Query("SELECT 1 FROM sqlite_master WHERE type='table' AND name='" + table + "'").Next();
  }
  bool HasColumn(const std::string& table, const std::string& column) const {
    return Query("SELECT 1 FROM pragma_table_info('" + table + "') WHERE name='" + column + "'")
        .Next();
  }
  // `query` is made of constants only. Each value is bound to nothing: there are no parameters.
  SqliteRows Query(const std::string& query) const { return {database_.get(), query}; }

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database, &sqlite3_close) {}

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database_;
};

// ENUM_CUDA_MEM_KIND and ENUM_CUDA_DEV_MEM_EVENT_OPER of the export.
constexpr int64_t kAllocate = 0;
constexpr int64_t kFree = 1;

PoolKind KindOfMemory(int64_t kind) {
  if (kind == 0 || kind == 1) return PoolKind::kHost;  // pageable, pinned
  return kind == 4 || kind == 6 ? PoolKind::kManaged : PoolKind::kDevice;
}

// A number that is no device isn't another one: TraceMaker takes it for unknown.
uint32_t Device(int64_t id) { return Narrow<uint32_t>(id).value_or(~0u); }

struct WorkTable {
  const char* name;
  const char* category;  // of its rows as events
  const char* work;      // the name of rows that have none
};
constexpr WorkTable kWork[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernel", ""},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "Memcpy"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "Memset"},
};

constexpr const char* kMemory = "CUDA_GPU_MEMORY_USAGE_EVENTS";
constexpr const char* kLaunches = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kCreations = "CUDA_GRAPH_EVENTS";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";

// An event of the trace, before they are put in order.
struct Moment {
  int64_t time = 0;
  enum class What : uint8_t { kAllocate, kFree, kCreate, kLaunch } what = What::kAllocate;
  uint64_t address = 0;
  Bytes size = 0;
  PoolKind kind = PoolKind::kDevice;
  uint64_t pool = 0;  // address of a driver pool; 0: none
  uint64_t graph = 0;
  uint64_t exec = 0;
  uint32_t device = 0;
  uint64_t stream = 0;
};

class ExportReader {
 public:
  explicit ExportReader(const SqliteDatabase& database) : db_(database) {}

  Result<Imported> Run() {
    Profile profile;
    const auto counts =
        ReadWork([this](const TakeKinetoEvent& take) { return ForEachEvent(take); }, &profile);
    if (!counts) return counts.error();
    for (const ReplayedWork& work : profile.replayed) {
      if (work.tool_id != 0) times_.Add(RunOf(work, profile));
    }
    ReadMemory();
    ReadGraphs(kCreations, Moment::What::kCreate);
    ReadGraphs(kLaunches, Moment::What::kLaunch);
    if (failed_) return Error{.message = kDamaged};
    return Make(*counts);
  }

  // Ranges, launches of graphs, and what ran, as Kineto has them.
  Result<void> ForEachEvent(const TakeKinetoEvent& take) {
    FindProcess();
    ForEachOnThread(kRanges, "user_annotation", "textId", "s.value IS NOT NULL", take);
    ForEachOnThread(kRanges, "user_annotation", "text", "t.text IS NOT NULL", take);
    ForEachOnThread(kCalls, "cuda_runtime", "nameId", "s.value LIKE '%GraphLaunch%'", take);
    for (const WorkTable& table : kWork) ForEachWork(table, take);
    if (failed_) return Error{.message = kDamaged};
    return {};
  }

 private:
  static constexpr const char* kDamaged = "the SQLite database is damaged";

  // The column, or a value in its place where this export doesn't have it.
  std::string Column(const std::string& table, const std::string& name,
                     const char* otherwise = "0") const {
    return db_.HasColumn(table, name) ? "t.\"" + name + "\"" : otherwise;
  }
  std::string OfProcess(const std::string& table) const {
    if (processes_ < 2 || !db_.HasColumn(table, "globalPid")) return {};
    return " AND t.globalPid=" + std::to_string(process_);
  }
  // These columns of the rows of `table`, called t.
  std::string Select(const std::string& table, const std::vector<std::string>& columns,
                     const std::string& join = {}) const {
    std::string query;
    for (const std::string& column : columns) query += (query.empty() ? "SELECT " : ", ") + column;
    return query + " FROM " + table + " t" + join + " WHERE 1" + OfProcess(table);
  }
  void ForEach(const std::string& query, auto take) {
    SqliteRows rows = db_.Query(query);
    while (rows.Next()) take(rows);
    failed_ |= rows.failed();
  }

  // Of the processes in the export, the one with the most kernels and allocations.
  void FindProcess() {
    std::map<int64_t, int64_t> rows_of;
    for (const std::string table : {kWork[0].name, kMemory}) {
      if (!db_.HasTable(table) || !db_.HasColumn(table, "globalPid")) continue;
      ForEach("SELECT globalPid, count(*) FROM " + table +
                  " WHERE globalPid IS NOT NULL GROUP BY globalPid",
              [&](const SqliteRows& row) { rows_of[row.Integer(0)] += row.Integer(1); });
    }
    processes_ = rows_of.size();
    int64_t most = 0;
    for (const auto& [process, count] : rows_of) {
      if (count <= most) continue;
      most = count;
      process_ = process;
    }
  }

  void ForEachWork(const WorkTable& of, const TakeKinetoEvent& take) {
    const std::string table = of.name;
    if (!db_.HasTable(table)) return;
    std::vector<std::string> columns = {"t.start", "t.\"end\"-t.start"};
    for (const char* column :
         {"graphNodeId", "correlationId", "deviceId", "streamId", "gridX", "gridY", "gridZ",
          "blockX", "blockY", "blockZ", "dynamicSharedMemory"}) {
      columns.push_back(Column(table, column));
    }
    std::string join;
    if (of.work[0] == '\0' && db_.HasTable("StringIds")) {
      join = " LEFT JOIN StringIds s ON s.id=coalesce(" + Column(table, "mangledName", "NULL") +
             ", " + Column(table, "demangledName", "NULL") + ")";
    }
    columns.push_back(join.empty() ? "NULL" : "s.value");
    ForEach(Select(table, columns, join) + " ORDER BY t.start", [&](const SqliteRows& row) {
      KinetoEvent event{.category = of.category,
                        .name = join.empty() ? of.work : row.Text(13),
                        .begin_us = static_cast<double>(row.Integer(0)) / 1000,
                        .duration_us = static_cast<double>(row.Integer(1)) / 1000,
                        .correlation = row.Natural(3),
                        .node = row.Natural(2),
                        .has_node = row.Natural(2) != 0,
                        .stream = row.Natural(5),
                        .device = Device(row.Integer(4))};
      for (int i = 0; i < 3 && row.Natural(6) != 0; ++i) {
        event.shape.grid[i] = Saturate<uint32_t>(row.Integer(6 + i));
        event.shape.block[i] = Saturate<uint32_t>(row.Integer(9 + i));
      }
      event.shape.shared_bytes = Saturate<uint32_t>(row.Integer(12));
      take(event);
    });
  }

  // Ranges and calls, named by a column: a text, or the number of one in StringIds.
  void ForEachOnThread(const std::string& table, const char* category, const std::string& name,
                       const std::string& where, const TakeKinetoEvent& take) {
    if (!db_.HasColumn(table, name) || !db_.HasColumn(table, "end")) return;
    const bool numbered = name.ends_with("Id");
    if (numbered && !db_.HasTable("StringIds")) return;
    const std::string join = numbered ? " JOIN StringIds s ON s.id=t." + name : "";
    const std::vector<std::string> columns = {
        "t.start", "coalesce(t.\"end\", t.start)-t.start", Column(table, "globalTid"),
        Column(table, "correlationId"), numbered ? "s.value" : "t." + name};
    ForEach(Select(table, columns, join) + " AND " + where + OfThreads(table),
            [&](const SqliteRows& row) {
              take({.category = category,
                    .name = row.Text(4),
                    .begin_us = static_cast<double>(row.Integer(0)) / 1000,
                    .duration_us = static_cast<double>(row.Integer(1)) / 1000,
                    .thread = row.Natural(2),
                    .correlation = row.Natural(3)});
            });
  }

  void ReadMemory() {
    if (!db_.HasTable(kMemory)) return;
    const std::vector<std::string> columns = {"t.start",
                                              "t.memoryOperationType",
                                              "t.address",
                                              "t.bytes",
                                              Column(kMemory, "memKind", "2"),
                                              Column(kMemory, "deviceId"),
                                              Column(kMemory, "localMemoryPoolAddress"),
                                              Column(kMemory, "streamId")};
    ForEach(Select(kMemory, columns) + " ORDER BY t.start", [&](const SqliteRows& row) {
      const int64_t operation = row.Integer(1);
      if (operation != kAllocate && operation != kFree) return;
      moments_.push_back(
          {.time = row.Integer(0),
           .what = operation == kAllocate ? Moment::What::kAllocate : Moment::What::kFree,
           .address = row.Natural(2),
           .size = static_cast<uint64_t>(std::max<int64_t>(0, row.Integer(3))),
           .kind = KindOfMemory(row.Integer(4)),
           .pool = row.Natural(6),
           .device = Device(row.Integer(5)),
           .stream = row.Natural(7)});
    });
  }

  // Graphs that were made, cloned or instantiated, or whole launches of execs.
  void ReadGraphs(const std::string& table, Moment::What what) {
    if (!db_.HasColumn(table, "graphId")) return;
    const std::vector<std::string> columns = {"t.start", "t.graphId", Column(table, "graphExecId"),
                                              Column(table, "deviceId"), Column(table, "streamId")};
    ForEach(Select(table, columns) + OfThreads(table) + " ORDER BY t.start",
            [&](const SqliteRows& row) {
              moments_.push_back({.time = row.Integer(0),
                                  .what = what,
                                  .graph = row.Natural(1),
                                  .exec = row.Natural(2),
                                  .device = Device(row.Integer(3)),
                                  .stream = row.Natural(4)});
            });
  }

  // A thread's id has its process's in its upper bits.
  std::string OfThreads(const std::string& table) const {
    if (processes_ < 2 || !db_.HasColumn(table, "globalTid")) return {};
    return " AND (t.globalTid & ~16777215)=" + std::to_string(process_ & ~int64_t{0xffffff});
  }

  void Take(const Moment& moment, TraceMaker* make) {
    if (moment.what == Moment::What::kCreate) {
      if (moment.exec != 0) {
        ExecOf(moment, make);
      } else {
        GraphOf(moment.graph, make);
      }
    } else if (moment.what == Moment::What::kLaunch) {
      const ExecId exec = ExecOf(moment, make);
      const StreamId stream = make->Stream(moment.device, moment.stream);
      make->trace.launches.push_back({exec, stream, make->Next()});
      ++launches_;
    } else if (moment.what == Moment::What::kAllocate) {
      Block block{.address = moment.address, .size = moment.size, .pool = PoolOf(moment, make)};
      if (moment.pool != 0) block.stream = make->Stream(moment.device, moment.stream);
      make->AllocateAt(block);
      ++allocations_;
    } else {
      make->FreeAt(moment.address);
    }
    make->SetTime(moment.time, moments_.size());
  }

  GraphId GraphOf(uint64_t tool_id, TraceMaker* make) {
    GraphId& graph = graphs_[tool_id];
    if (!graph) graph = make->AddGraph({}, tool_id);
    return graph;
  }

  ExecId ExecOf(const Moment& moment, TraceMaker* make) {
    const GraphId graph = GraphOf(moment.graph, make);
    ExecId& exec = execs_[moment.exec != 0 ? moment.exec : moment.graph];
    if (!exec) {
      exec = ExecId(make->trace.execs.size());
      make->trace.execs.push_back(
          {.graph = graph, .tool_id = moment.exec, .created = make->Next()});
    }
    return exec;
  }

  PoolId PoolOf(const Moment& moment, TraceMaker* make) {
    const PoolKind kind = moment.pool != 0 ? PoolKind::kStream : moment.kind;
    PoolId& id = pools_[{kind, moment.pool}];
    if (!id) id = make->AddPool(kind, {}, moment.pool);
    return id;
  }

  Result<Imported> Make(ProfileCounts counts) {
    std::ranges::stable_sort(moments_, {}, &Moment::time);
    TraceMaker make;
    if (!moments_.empty()) make.SetBegin(moments_.front().time, false);
    times_.MakeGraphs(make);
    for (size_t i = 0; i < make.trace.graphs.size(); ++i) {
      graphs_.emplace(make.trace.graphs[i].tool_id, GraphId(i));
    }
    for (const Moment& moment : moments_) Take(moment, &make);
    if (allocations_ == 0) {
      make.trace.process.unknown_memory = "the profile has no memory events";
    }
    counts.graph_launches = std::max(launches_, counts.graph_launches);
    make.Note(ProfileNote(times_, counts, "profile with --cuda-graph-trace=node"));
    make.NoteUnmatched("the profile");
    if (processes_ > 1) {
      make.Note("of " + Counted(processes_, "process") + " the one with the most work is here");
    }
    Imported imported =
        make.Finish(ProfileSummary(times_, counts) + ", " + Counted(allocations_, "allocation"));
    imported.times = times_.Times();
    return imported;
  }

  const SqliteDatabase& db_;
  bool failed_ = false;
  int64_t process_ = 0;
  size_t processes_ = 0;
  NodeTimes times_;
  std::vector<Moment> moments_;
  std::map<std::pair<PoolKind, uint64_t>, PoolId> pools_;
  std::map<uint64_t, GraphId> graphs_;
  std::map<uint64_t, ExecId> execs_;
  uint64_t launches_ = 0;  // of whole graphs, as they ran
  size_t allocations_ = 0;
};

}  // namespace

Result<Imported> ReadNsys(std::string_view bytes) {
  const Result<SqliteDatabase> database = SqliteDatabase::Open(bytes);
  if (!database) return database.error();
  return ExportReader(*database).Run();
}

Result<void> ReadNsysReplays(std::string_view bytes, Profile* profile) {
  const Result<SqliteDatabase> database = SqliteDatabase::Open(bytes);
  if (!database) return database.error();
  ExportReader reader(*database);
  return ReadReplays([&](const TakeKinetoEvent& take) { return reader.ForEachEvent(take); },
                     profile);
}

}  // namespace graphkit
