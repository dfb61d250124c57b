#include "tables.h"

#include <cstring>
#include <initializer_list>

namespace graphkit {
namespace {

template <typename Tag>
int64_t Number(Id<Tag> id) {
  return id.valid() ? static_cast<int64_t>(id.value) : -1;
}

int64_t Place(Seq seq) { return seq == kNever ? -1 : static_cast<int64_t>(seq); }

template <typename T>
int64_t Whole(T value) {
  return static_cast<int64_t>(value);
}

class Rows {
 public:
  Rows(const Trace& trace, size_t count, std::vector<std::string> columns) : trace_(trace) {
    table_.columns = std::move(columns);
    table_.rows.reserve(count * table_.columns.size() * sizeof(int64_t));
    if (!trace.clocks.empty()) wall_ = trace.clocks[0].wall - Whole(trace.clocks[0].monotonic);
  }

  void Add(std::initializer_list<int64_t> row) {
    table_.rows.append(reinterpret_cast<const char*>(row.begin()), row.size() * sizeof(int64_t));
  }

  // When a record was written, in nanoseconds since 1970; 0: unknown.
  int64_t Time(Seq seq) const {
    if (seq >= trace_.times.size() || trace_.times[seq] == 0) return 0;
    return Whole(trace_.times[seq]) + wall_;
  }

  NumberTable Take() { return std::move(table_); }

 private:
  const Trace& trace_;
  NumberTable table_;
  int64_t wall_ = 0;
};

NumberTable Graphs(const Trace& trace) {
  Rows rows(trace, trace.graphs.size(),
            {"id:i8", "origin:i8", "parent:i8", "created:i8", "destroyed:i8"});
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const Graph& graph = trace.graphs[i];
    rows.Add({Whole(i), Whole(graph.origin), Number(graph.parent), Place(graph.created),
              Place(graph.destroyed)});
  }
  return rows.Take();
}

NumberTable Nodes(const Trace& trace) {
  Rows rows(trace, trace.nodes.size(),
            {"id:i8", "graph:i8", "kind:i8", "stream:i8", "kernel:i8", "block:i8", "stack:i8",
             "seq:i8", "duration_ns:i8"});
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    rows.Add({Whole(i), Number(node.graph), Whole(node.kind), Number(node.stream),
              Number(node.kernel), Number(node.block), Number(node.stack), Place(node.seq),
              Whole(node.duration_ns)});
  }
  return rows.Take();
}

NumberTable Edges(const Trace& trace) {
  Rows rows(trace, trace.edges.size(),
            {"id:i8", "from:i8", "to:i8", "from_port:i8", "to_port:i8", "type:i8", "seq:i8"});
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    rows.Add({Whole(i), Number(edge.from), Number(edge.to), edge.from_port, edge.to_port,
              Whole(edge.type), Place(edge.seq)});
  }
  return rows.Take();
}

NumberTable Accesses(const Trace& trace) {
  Rows rows(trace, trace.accesses.size(),
            {"node:i8", "block:i8", "mode:i8", "offset:i8", "length:i8"});
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Slice slice = trace.nodes[i].accesses;
    for (uint32_t a = 0; a < slice.count; ++a) {
      const Access& access = trace.accesses[slice.first + a];
      rows.Add({Whole(i), Number(access.block), Whole(access.mode), Whole(access.offset),
                access.length == kLengthUnknown ? -1 : Whole(access.length)});
    }
  }
  return rows.Take();
}

NumberTable Blocks(const Trace& trace) {
  Rows rows(trace, trace.blocks.size(),
            {"id:i8", "address:u8", "size:i8", "pool:i8", "segment:i8", "stream:i8", "graph:i8",
             "stack:i8", "free_stack:i8", "allocated:i8", "free_requested:i8", "free_completed:i8",
             "allocated_ns:i8", "free_requested_ns:i8", "free_completed_ns:i8"});
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    rows.Add({Whole(i), Whole(block.address), Whole(block.size), Number(block.pool),
              Number(block.segment), Number(block.stream), Number(block.graph), Number(block.stack),
              Number(block.free_stack), Place(block.allocated), Place(block.free_requested),
              Place(block.free_completed), rows.Time(block.allocated),
              rows.Time(block.free_requested), rows.Time(block.free_completed)});
  }
  return rows.Take();
}

NumberTable Segments(const Trace& trace) {
  Rows rows(trace, trace.segments.size(),
            {"id:i8", "address:u8", "size:i8", "pool:i8", "stream:i8", "block:i8", "allocated:i8",
             "freed:i8"});
  for (size_t i = 0; i < trace.segments.size(); ++i) {
    const Segment& segment = trace.segments[i];
    rows.Add({Whole(i), Whole(segment.address), Whole(segment.size), Number(segment.pool),
              Number(segment.stream), Number(segment.block), Place(segment.allocated),
              Place(segment.freed)});
  }
  return rows.Take();
}

NumberTable Pools(const Trace& trace) {
  Rows rows(trace, trace.pools.size(), {"id:i8", "kind:i8", "created:i8", "destroyed:i8"});
  for (size_t i = 0; i < trace.pools.size(); ++i) {
    const Pool& pool = trace.pools[i];
    rows.Add({Whole(i), Whole(pool.kind), Place(pool.created), Place(pool.destroyed)});
  }
  return rows.Take();
}

NumberTable Execs(const Trace& trace) {
  Rows rows(trace, trace.execs.size(),
            {"id:i8", "graph:i8", "flags:i8", "created:i8", "destroyed:i8"});
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const Exec& exec = trace.execs[i];
    rows.Add({Whole(i), Number(exec.graph), Whole(exec.flags), Place(exec.created),
              Place(exec.destroyed)});
  }
  return rows.Take();
}

NumberTable Launches(const Trace& trace) {
  Rows rows(trace, trace.launches.size(), {"exec:i8", "stream:i8", "seq:i8"});
  for (const Launch& launch : trace.launches) {
    rows.Add({Number(launch.exec), Number(launch.stream), Place(launch.seq)});
  }
  return rows.Take();
}

struct NamedTable {
  std::string_view name;
  NumberTable (*make)(const Trace& trace);
};

constexpr NamedTable kTables[] = {
    {"graphs", Graphs},     {"nodes", Nodes},   {"edges", Edges},
    {"accesses", Accesses}, {"blocks", Blocks}, {"segments", Segments},
    {"pools", Pools},       {"execs", Execs},   {"launches", Launches},
};

}  // namespace

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const NamedTable& table : kTables) names.emplace_back(table.name);
  return names;
}

NumberTable MakeTable(const Trace& trace, std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(trace);
  }
  return {};
}

}  // namespace graphkit
