// The GPUs of the modelled machine. Without a setting there is one, like an H200.
//
//   GRAPHKIT_SOFT_DEVICES=4                                                 four of them
//   GRAPHKIT_SOFT_DEVICES="name=small,memory=8GiB;capability=8.0,multiprocessors=108"   two others
//   GRAPHKIT_SOFT_DEVICES=/path/to/file                                     a device a line
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/soft_cuda/ground/address_space.h"
#include "plugins/soft_cuda/model/exec_memory.h"
#include "plugins/soft_cuda/model/graph_pages.h"
#include "plugins/soft_cuda/model/worker.h"

namespace graphkit::soft {

struct Context;
struct Pool;

struct GpuFigures {
  std::string name = "graphkit soft device (H200-like)";
  uint64_t bytes = uint64_t{141} << 30;
  unsigned architecture = 90;  // 90: compute capability 9.0
  int multiprocessors = 132;
  bool operator==(const GpuFigures&) const = default;
};

// Memory of a pool that a stream has freed, and may still use, or that the pool may not yet give to
// other streams.
struct FreedBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;
  const Pool* pool = nullptr;
  uint64_t stream = 0;        // its id
  uint64_t number = 0;        // among the stream's frees
  WorkMark mark;              // the end of the stream's work with it
  bool address_only = false;  // memory of the host, that has an address of the GPU
};

// One GPU, with what belongs to no context of it.
struct Gpu {
  int ordinal = 0;  // among those that the program sees
  int place = 0;    // in the machine
  GpuFigures figures;
  AddressSpace memory;
  uint64_t physical = 0;  // bytes of handles of virtual memory management, which have no address
  Context* primary = nullptr;
  unsigned primary_flags = 0;
  Pool* default_pool = nullptr;
  Pool* current_pool = nullptr;
  GraphPages graph_pages{};
  std::vector<FreedBlock> freed{};
  // Bytes of addresses without memory of the GPU: those of graphs, whose memory is in graph_pages,
  // and those of memory of the host.
  uint64_t addresses_only = 0;
  uint64_t exec_bytes = 0;  // of all execs, in chunks

  uint64_t exec_chunk_bytes() const {
    return (exec_bytes + kExecChunk - 1) / kExecChunk * kExecChunk;
  }
  uint64_t free_bytes() const {
    const uint64_t used =
        memory.used() - addresses_only + graph_pages.used() + physical + exec_chunk_bytes();
    return used < figures.bytes ? figures.bytes - used : 0;
  }
};

// A size as settings give it: 8GiB, 512MiB, or bytes.
std::optional<uint64_t> ReadBytes(std::string_view text);
// The devices that a setting describes; what is wrong with it goes to `problem`. An empty setting
// is the default.
std::vector<GpuFigures> ReadGpus(std::string_view setting, std::string* problem);
// Those of GRAPHKIT_SOFT_DEVICES. A setting that can't be read is told on stderr, and the default
// taken.
std::vector<GpuFigures> ConfiguredGpus();

// The GPUs of the machine that a program sees, in order, when CUDA_VISIBLE_DEVICES is set: indices,
// or begins of UUIDs ("GPU-6772"), with commas between them. What is no GPU ends the list (CUDA
// programming guide, environment variables); one that is named twice leaves none (PyTorch's reading
// of the variable, torch/cuda/__init__.py).
// Places in the machine; `uuids` as NVML writes them, by place.
std::vector<size_t> VisiblePlaces(std::string_view setting, const std::vector<std::string>& uuids);

}  // namespace graphkit::soft
