// An ncclComm_t, and what the calls of NCCL share. Names, orders of arguments and numbers are those
// of nccl.h 2.30 and NCCL's documentation.
#pragma once

#include <cuda.h>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugins/soft_cuda/libraries/nccl/meeting.h"
#include "plugins/soft_cuda/libraries/refuse.h"
#include "plugins/soft_cuda/libraries/work.h"

namespace graphkit::soft::nccl {

enum Status : int {
  kSuccess = 0,
  kCudaError = 1,
  kSystemError = 2,
  kInvalidArgument = 4,
  kInvalidUsage = 5
};

// Bytes of a factor that lies on the device, by the operation's number.
struct Factor {
  const void* at;
  uint64_t bytes;
};

struct Communicator {
  std::string name;  // the same in all its ranks
  uint32_t ranks = 0;
  uint32_t rank = 0;
  CUcontext context = nullptr;
  int device = 0;
  std::unique_ptr<Meeting> meeting;
  uint32_t children = 0;  // communicators that all ranks have made of it
  std::map<int, Factor> factors;
  int operations = 0;  // made by ncclRedOpCreatePreMulSum
  // The last operation that a capture holds, and which capture: the next one there follows it.
  cuuint64_t capture = 0;
  CUgraphNode captured = nullptr;

  uint64_t key() const;
};

// Of an ncclDataType_t; 0: none.
uint64_t BytesOf(int type);

// Joins a communicator; it is whole once all its ranks have.
Status Start(const std::string& name, uint32_t ranks, uint32_t rank, Communicator** out);

// One operation, as the calls give it.
struct Operation {
  const char* call;
  uint32_t kind;
  Communicator* communicator;
  CUstream stream;
  uint64_t count;
  int type;
  int64_t peer = -1;
  Factor read = {}, written = {}, factor = {};
};

// Groups, which are a thread's own: what is given inside one is done at its end.
Status Submit(const Operation& operation);
Status Wait(std::function<Status()> wait);  // for other ranks, of which this thread may be some

}  // namespace graphkit::soft::nccl
