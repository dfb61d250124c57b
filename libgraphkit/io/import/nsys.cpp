#include "libgraphkit/io/import/formats.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/node_times.h"
#include "libgraphkit/io/import/sqlite.h"

namespace graphkit {
namespace {

// ENUM_CUDA_MEM_KIND and ENUM_CUDA_DEV_MEM_EVENT_OPER of the export.
constexpr int64_t kAllocate = 0;
constexpr int64_t kFree = 1;

PoolKind KindOfMemory(int64_t kind) {
  switch (kind) {
    case 0:  // pageable
    case 1:  // pinned
      return PoolKind::kHost;
    case 4:
    case 6:
      return PoolKind::kManaged;
    default:
      return PoolKind::kDevice;
  }
}

// What is no device isn't another one: TraceMaker takes it for unknown.
uint32_t Device(int64_t id) { return Narrow<uint32_t>(id).value_or(~0u); }

struct WorkTable {
  const char* name;
  NodeKind kind;
};

constexpr std::array<WorkTable, 3> kWork = {{
    {"CUPTI_ACTIVITY_KIND_KERNEL", NodeKind::kKernel},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", NodeKind::kMemcpy},
    {"CUPTI_ACTIVITY_KIND_MEMSET", NodeKind::kMemset},
}};

constexpr const char* kMemory = "CUDA_GPU_MEMORY_USAGE_EVENTS";
constexpr const char* kLaunches = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";

// An event of the trace, before they are put in order.
struct Moment {
  int64_t time = 0;
  enum class What : uint8_t { kAllocate, kFree, kLaunch } what = What::kAllocate;
  uint64_t address = 0;
  Bytes size = 0;
  PoolKind kind = PoolKind::kDevice;
  uint64_t pool = 0;  // address of a driver pool; 0: none
  uint64_t graph = 0;
  uint64_t exec = 0;
  uint32_t device = 0;
  uint64_t stream = 0;
};

class Reader {
 public:
  explicit Reader(const SqliteDatabase& database) : db_(database) {}

  Result<Imported> Run() {
    FindProcess();
    for (const WorkTable& table : kWork) ReadWork(table);
    ReadMemory();
    ReadLaunches();
    CountCalls();
    if (failed_) return Error{.message = "the SQLite database is damaged"};
    return Make();
  }

 private:
  // The column, or a value in its place where this export doesn't have it.
  std::string Column(const std::string& table, const std::string& name,
                     const char* otherwise = "0") const {
    return db_.HasColumn(table, name) ? "t.\"" + name + "\"" : otherwise;
  }
  std::string OfProcess(const std::string& table) const;
  void FindProcess();
  void ReadWork(const WorkTable& table);
  void ReadMemory();
  void ReadLaunches();
  void CountCalls();
  void Take(const Moment& moment, TraceMaker* make);
  void Launch(const Moment& moment, TraceMaker* make);
  PoolId PoolOf(const Moment& moment, TraceMaker* make);
  Result<Imported> Make();

  const SqliteDatabase& db_;
  bool failed_ = false;
  int64_t process_ = 0;
  size_t processes_ = 0;
  NodeTimes times_;
  std::vector<Moment> moments_;
  std::map<std::pair<PoolKind, uint64_t>, PoolId> pools_;
  std::unordered_map<uint64_t, BlockId> live_;
  std::map<uint64_t, GraphId> graphs_;
  std::map<uint64_t, ExecId> execs_;
  size_t unmatched_ = 0;
  uint64_t work_ = 0;      // kernels, copies and sets
  uint64_t launches_ = 0;  // of whole graphs, as they ran
  GraphLaunchCalls calls_;
  size_t allocations_ = 0;
};

// Of the processes in the export, the one with the most kernels and allocations.
void Reader::FindProcess() {
  std::map<int64_t, int64_t> rows_of;
  for (const char* table : {kWork[0].name, kMemory}) {
    if (!db_.HasTable(table) || !db_.HasColumn(table, "globalPid")) continue;
    SqliteRows rows = db_.Query(std::string("SELECT globalPid, count(*) FROM ") + table +
                                " WHERE globalPid IS NOT NULL GROUP BY globalPid");
    while (rows.Next()) rows_of[rows.Integer(0)] += rows.Integer(1);
    failed_ |= rows.failed();
  }
  processes_ = rows_of.size();
  int64_t most = 0;
  for (const auto& [process, count] : rows_of) {
    if (count <= most) continue;
    most = count;
    process_ = process;
  }
}

std::string Reader::OfProcess(const std::string& table) const {
  if (processes_ < 2 || !db_.HasColumn(table, "globalPid")) return {};
  return " AND t.globalPid=" + std::to_string(process_);
}

void Reader::ReadWork(const WorkTable& table) {
  const std::string name = table.name;
  if (!db_.HasTable(name)) return;
  SqliteRows all = db_.Query("SELECT count(*) FROM " + name + " t WHERE 1" + OfProcess(name));
  if (all.Next()) work_ += static_cast<uint64_t>(all.Integer(0));
  failed_ |= all.failed();
  if (!db_.HasColumn(name, "graphNodeId")) return;
  const bool kernels = table.kind == NodeKind::kKernel && db_.HasTable("StringIds");
  std::string query = "SELECT t.graphNodeId, t.\"end\"-t.start, " + Column(name, "deviceId") +
                      ", " + Column(name, "streamId");
  for (const char* column : {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}) {
    query += ", " + Column(name, column, "1");
  }
  query += ", " + Column(name, "dynamicSharedMemory");
  const bool mangled = db_.HasColumn(name, "mangledName");
  const bool demangled = db_.HasColumn(name, "demangledName");
  if (kernels && (mangled || demangled)) {
    const std::string id = mangled && demangled ? "coalesce(t.mangledName, t.demangledName)"
                           : mangled            ? "t.mangledName"
                                                : "t.demangledName";
    query += ", s.value FROM " + name + " t LEFT JOIN StringIds s ON s.id=" + id;
  } else {
    query += ", NULL FROM " + name + " t";
  }
  query += " WHERE t.graphNodeId IS NOT NULL AND t.graphNodeId<>0" + OfProcess(name) +
           " ORDER BY t.start";
  SqliteRows rows = db_.Query(query);
  while (rows.Next()) {
    NodeRun run;
    run.tool_id = static_cast<uint64_t>(rows.Integer(0));
    run.kind = table.kind;
    run.duration_ns = static_cast<uint64_t>(std::max<int64_t>(0, rows.Integer(1)));
    run.device = Device(rows.Integer(2));
    run.stream = static_cast<uint64_t>(rows.Integer(3));
    for (int i = 0; i < 3; ++i) {
      run.shape.grid[i] = Saturate<uint32_t>(rows.Integer(4 + i));
      run.shape.block[i] = Saturate<uint32_t>(rows.Integer(7 + i));
    }
    run.shape.shared_bytes = Saturate<uint32_t>(rows.Integer(10));
    run.kernel = rows.Text(11);
    times_.Add(run);
  }
  failed_ |= rows.failed();
}

void Reader::ReadMemory() {
  if (!db_.HasTable(kMemory)) return;
  SqliteRows rows =
      db_.Query("SELECT t.start, t.memoryOperationType, t.address, t.bytes, " +
                Column(kMemory, "memKind", "2") + ", " + Column(kMemory, "deviceId") + ", " +
                Column(kMemory, "localMemoryPoolAddress") + ", " + Column(kMemory, "streamId") +
                " FROM " + kMemory + " t WHERE 1" + OfProcess(kMemory) + " ORDER BY t.start");
  while (rows.Next()) {
    const int64_t operation = rows.Integer(1);
    if (operation != kAllocate && operation != kFree) continue;
    Moment moment;
    moment.time = rows.Integer(0);
    moment.what = operation == kAllocate ? Moment::What::kAllocate : Moment::What::kFree;
    moment.address = static_cast<uint64_t>(rows.Integer(2));
    moment.size = static_cast<uint64_t>(std::max<int64_t>(0, rows.Integer(3)));
    moment.kind = KindOfMemory(rows.Integer(4));
    moment.device = Device(rows.Integer(5));
    moment.pool = static_cast<uint64_t>(rows.Integer(6));
    moment.stream = static_cast<uint64_t>(rows.Integer(7));
    moments_.push_back(moment);
  }
  failed_ |= rows.failed();
}

void Reader::ReadLaunches() {
  if (!db_.HasTable(kLaunches)) return;
  SqliteRows rows =
      db_.Query(std::string("SELECT t.start, t.graphId, ") + Column(kLaunches, "graphExecId") +
                ", " + Column(kLaunches, "deviceId") + ", " + Column(kLaunches, "streamId") +
                " FROM " + kLaunches + " t WHERE 1" + OfProcess(kLaunches) + " ORDER BY t.start");
  while (rows.Next()) {
    Moment moment;
    moment.time = rows.Integer(0);
    moment.what = Moment::What::kLaunch;
    moment.graph = static_cast<uint64_t>(rows.Integer(1));
    moment.exec = static_cast<uint64_t>(rows.Integer(2));
    moment.device = Device(rows.Integer(3));
    moment.stream = static_cast<uint64_t>(rows.Integer(4));
    moments_.push_back(moment);
  }
  failed_ |= rows.failed();
}

// The calls of the runtime and the driver. A thread's id has its process's in its upper bits.
void Reader::CountCalls() {
  if (!db_.HasColumn(kCalls, "nameId") || !db_.HasTable("StringIds")) return;
  std::string query = std::string("SELECT s.value, count(*) FROM ") + kCalls +
                      " t JOIN StringIds s ON s.id=t.nameId WHERE s.value LIKE '%GraphLaunch%'";
  if (processes_ > 1 && db_.HasColumn(kCalls, "globalTid")) {
    query += " AND (t.globalTid & ~16777215)=" + std::to_string(process_ & ~int64_t{0xffffff});
  }
  SqliteRows rows = db_.Query(query + " GROUP BY s.value");
  while (rows.Next()) calls_.Take(rows.Text(0), static_cast<uint64_t>(rows.Integer(1)));
  failed_ |= rows.failed();
}

PoolId Reader::PoolOf(const Moment& moment, TraceMaker* make) {
  const PoolKind kind = moment.pool != 0 ? PoolKind::kStream : moment.kind;
  PoolId& id = pools_[{kind, moment.pool}];
  if (!id) id = make->AddPool(kind, {}, moment.pool);
  return id;
}

void Reader::Launch(const Moment& moment, TraceMaker* make) {
  GraphId& graph = graphs_[moment.graph];
  if (!graph) graph = make->AddGraph({}, moment.graph);
  ExecId& exec = execs_[moment.exec != 0 ? moment.exec : moment.graph];
  if (!exec) {
    exec = ExecId(make->trace.execs.size());
    Exec made;
    made.graph = graph;
    made.tool_id = moment.exec;
    made.created = make->Next();
    make->trace.execs.push_back(made);
  }
  const StreamId stream = make->Stream(moment.device, moment.stream);
  make->trace.launches.push_back({exec, stream, make->Next()});
  ++launches_;
}

void Reader::Take(const Moment& moment, TraceMaker* make) {
  if (moment.what == Moment::What::kLaunch) {
    Launch(moment, make);
  } else if (moment.what == Moment::What::kAllocate) {
    Block block;
    block.address = moment.address;
    block.size = moment.size;
    block.pool = PoolOf(moment, make);
    if (moment.pool != 0) block.stream = make->Stream(moment.device, moment.stream);
    const BlockId id = make->AddBlock(block);
    ++allocations_;
    if (!live_.insert_or_assign(moment.address, id).second) ++unmatched_;
  } else {
    const auto at = live_.find(moment.address);
    if (at == live_.end()) {
      make->Next();
      ++unmatched_;
    } else {
      make->Free(at->second);
      live_.erase(at);
    }
  }
  make->SetTime(moment.time, moments_.size());
}

Result<Imported> Reader::Make() {
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
  const ProfileCounts counts{.work = work_, .graph_launches = std::max(launches_, calls_.count())};
  make.Note(ProfileNote(times_, counts, "profile with --cuda-graph-trace=node"));
  if (unmatched_ > 0) {
    make.Note("the profile lacks the other end of " + CountOf(unmatched_, "allocation") +
              " or free" + (unmatched_ == 1 ? "" : "s"));
  }
  if (processes_ > 1) {
    make.Note("of " + CountOf(processes_, "process") + " the one with the most work is here");
  }
  Imported imported =
      make.Finish(ProfileSummary(times_, counts) + ", " + CountOf(allocations_, "allocation"));
  imported.times = times_.Times();
  return imported;
}

}  // namespace

Result<Imported> ReadNsys(std::string_view bytes) {
  const Result<SqliteDatabase> database = SqliteDatabase::Open(bytes);
  if (!database) return database.error();
  return Reader(*database).Run();
}

}  // namespace graphkit
