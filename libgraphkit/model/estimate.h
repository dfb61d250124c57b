// The result of `graphkit estimate`: memory of graphs of sizes that weren't captured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/process.h"

namespace graphkit {

// How it is known which size a graph was captured for.
enum class SizesFrom : uint8_t {
  kUser,    // named by the user
  kNames,   // by a number in the names of graphs, or of NVTX ranges around their captures
  kBlocks,  // by the sizes of blocks: the smallest whole numbers that have their ratio
};

// Graphs that are alike up to the sizes of their blocks.
struct EstimatedKind {
  GraphId first;  // of them
  uint64_t graphs = 0;
  uint64_t nodes = 0;
  uint64_t blocks = 0;
  std::vector<uint64_t> captured = {};  // sizes, ascending
  // Blocks by how they depend on the size. Unsure: too few captures to tell, or none of these.
  uint64_t constant = 0;
  uint64_t proportional = 0;
  uint64_t linear = 0;
  uint64_t unsure = 0;
  bool operator==(const EstimatedKind&) const = default;
};

// All graphs of one size.
struct EstimatedSize {
  uint64_t size = 0;
  uint64_t graphs = 0;
  bool captured = false;  // this size is in the trace
  uint64_t like = 0;      // the captured size whose graphs and calls it is taken to have
  ByteRange own_pools;    // reserved, with a pool for each graph
  ByteRange pool_growth;  // by which one pool of all sizes grows for it, the largest size first
  ByteRange execs;
  // Host time of the captures of `like`; 0: not recorded, or simulated.
  Nanoseconds capture_ns = 0;
  // Of a size that was chosen: requests that run in it, and what it has beyond them, in units of
  // the size.
  uint64_t launches = 0;
  uint64_t padding = 0;
  bool operator==(const EstimatedSize&) const = default;
};

// Requests of one size.
struct SizeCount {
  uint64_t size = 0;
  uint64_t count = 0;
  bool operator==(const SizeCount&) const = default;
};

struct MemoryEstimate {
  DeviceKind device = DeviceKind::kImported;
  SizesFrom sizes_from = SizesFrom::kUser;
  std::string alloc_conf = {};  // PyTorch's settings that it is for; empty: the defaults
  std::vector<EstimatedKind> kinds = {};
  std::vector<EstimatedSize> sizes = {};  // the largest first
  ByteRange shared_pool;                  // reserved: one pool of all graphs
  ByteRange own_pools;                    // reserved: a pool for each graph
  ByteRange execs;
  ExecSource exec_source = ExecSource::kEstimated;
  // Of libraries, on the streams that capture and outside of pools; "cuBLAS workspace" is a name.
  std::map<std::string, Bytes> workspaces = {};
  // The sizes were chosen to have the least padding within a budget.
  std::optional<Bytes> budget = {};
  uint64_t candidates = 0;
  uint64_t requested = 0;               // in units of the size
  std::vector<std::string> notes = {};  // for people, what the figures don't hold or rest on
  bool operator==(const MemoryEstimate&) const = default;
};

}  // namespace graphkit
