// Work of CUDA and HIP graphs as profiles have it: what was captured, with the place in the program
// that launched it, and what replays ran. A captured graph and its replays are matched in
// libgraphkit/compare/attribute.
//
//     captures of a server's profile          a profile of its replays
//     graph 0 (batch size 32)                 launch 0 (batch size 32)
//       rms_norm   grid 32    place 0           rms_norm   3.1 us
//       gemm       grid 152   place 1           gemm      14.0 us
#pragma once

#include <optional>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Where a program launched something. What isn't known refers to nothing.
struct ProfilePlace {
  StringId module;      // "Qwen3Model_0.Qwen3DecoderLayer_13.RMSNorm_54"
  StringId line;        // "sglang/srt/models/qwen3.py:263 forward"
  StringId op;          // "aten::copy_"
  StringId shapes;      // of its inputs: "[32,4096] BFloat16, [32]"
  StringId collective;  // "all_reduce"
  StringId stack;       // modules, lines and operators, a line each, the outermost first
  auto operator<=>(const ProfilePlace&) const = default;
};

// The identity of a kernel, a copy or a fill, as far as a profile knows it.
struct ProfiledWork {
  NodeKind kind = NodeKind::kUnknown;
  StringId kernel;                 // kernels only, and none where the profile has none
  LaunchShape shape;               // a grid of 0: unknown
  std::vector<uint64_t> ids = {};  // tools ids (model/tool_ids.h) of a captured node in its execs
};

struct CapturedWork {
  ProfiledWork work;
  uint32_t place = 0;               // in Profile::places
  std::optional<Bytes> bytes = {};  // of memory that the node touches
};

struct ProfiledCapture {
  StringId source;    // the file, and the name of the capture in it
  uint64_t size = 0;  // the batch size that its capture is named with ("capture_32"); 0: none
  Slice work;         // in Profile::captured
};

struct ReplayedWork {
  NodeKind kind = NodeKind::kUnknown;
  StringId kernel;    // as its profile has it; of copies and fills, too
  LaunchShape shape;  // a grid of 0: unknown
  uint32_t device = 0;
  uint64_t stream = 0;
  uint64_t tool_id = 0;  // 0: unknown
  uint64_t duration_ns = 0;
  double begin_us = 0;
  uint64_t correlation = 0;  // of the call that launched it; once arranged, the launch's number
  uint64_t at = 0;           // of its event, bytes into the file
};

struct ReplayLaunch {
  double begin_us = 0;
  uint64_t size = 0;  // the batch size that annotations around the launch name; 0: none
  Slice work;         // in Profile::replayed
};

struct Profile {
  StringTable strings;
  std::vector<ProfilePlace> places;
  std::vector<ProfiledCapture> graphs;
  std::vector<CapturedWork> captured;  // by graph, in the order of the launches
  std::vector<ReplayLaunch> launches;  // by begin
  std::vector<ReplayedWork> replayed;  // by launch and begin
  uint64_t eager = 0;                  // kernels, copies and fills that no graph ran
  std::string_view operator[](StringId id) const { return strings[id]; }
};

}  // namespace graphkit
