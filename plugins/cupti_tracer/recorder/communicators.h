// NCCL's communicators, and its calls: which operations the kernels hold that they launch. Three
// sources say so:
//
//     NVTX ranges of NCCL (domain "NCCL")  a call with its communicator, bytes, and root or peer;
//                                          a communicator's begin and end
//     the profiler plugin (ncclProfiler_v4)  a communicator: how many ranks, and which one this is
//     a parameter of the kernel            all of it; of the software device's stand-in
//
// A call launches inside of its range, or, between ncclGroupStart and ncclGroupEnd, inside of the
// range of the last:
//
//     ncclAllReduce  ├── kernel ──┤
//     ncclGroupStart ├┤  ncclSend ├┤  ncclRecv ├┤  ncclGroupEnd ├── kernel ──┤
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/recorder/kernels.h"
#include "plugins/cupti_tracer/recorder/work.h"

namespace graphkit {

// The payload of NCCL's ranges; a field that NCCL leaves out keeps its default.
struct NcclPayload {
  uint64_t communicator = 0;
  uint64_t bytes = 0;
  int32_t peer = -1;  // or root
  int32_t rank = -1;
  int32_t ranks = 0;
};

class Communicators {
 public:
  explicit Communicators(Records& records) : records_(records) {}

  // Ranges of NCCL's domain. `payload`: null where the range has none.
  void OnRangePushed(ThreadState& thread, std::string_view name, const NcclPayload* payload);
  void OnRangePopped(ThreadState& thread, std::string_view name, const NcclPayload* payload);
  // The profiler plugin's.
  void OnCommunicator(const ThreadState& thread, uint64_t key, int32_t ranks, int32_t rank);

  // Adds what the calls in flight on the thread hold to a kernel that one of them launches.
  void Attach(ThreadState& thread, const Call& call, Work& work);
  // An operation as a parameter has it.
  void Add(const CollectiveParam& found, Work& work);

 private:
  struct Known {
    uint64_t key = 0;
    uint32_t ranks = 0;
    uint32_t rank = 0;
    uint64_t context = 0;  // where it was made; 0: not known
  };

  void OnDestroyed(const NcclPayload& payload);
  const Known* Find(uint64_t key, uint64_t context) const;
  CommunicatorId IdOf(uint64_t key, uint32_t ranks, uint32_t rank);

  Records& records_;
  std::vector<Known> known_;
  std::map<std::pair<uint64_t, uint32_t>, CommunicatorId> ids_;  // by key and rank
  uint32_t next_ = 0;
};

}  // namespace graphkit
