// The stacks that a thread took before, found again without being unwound: unwinding reads the
// tables of every function on the way, and takes some 2 000 instructions a frame.
//
//     the tracer's frame ─┐ anchor
//     libcuda, cudart     │ +0x8    0x7f2a10   the next return address lies 0x1a0 bytes above
//     Attend(float*)      │ +0x1a8  0x5581c0   … 0x40 bytes above
//     Step(Model&)        │ +0x1e8  0x558230   … 0x60 bytes above
//     main                ┘ +0x248  0x5583f1   none above
//
// A call nearly always finds its function's frame as large as the last time. So the return
// addresses are read along the distances that were seen last, and the sequence is looked up. Where
// a frame is larger (alloca), it isn't found, or is one that was never taken: the stack is unwound,
// and the distance learnt. Only the thread's own stack is read, whatever the distances are.
#pragma once

#include <cstdint>
#include <span>

#include "libgraphkit/ids.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/stacks/call_stack.h"

namespace graphkit {

// A thread's stack while a callback is in flight: from the frame of the tracer's outermost function
// to its end.
struct StackExtent {
  uint64_t anchor = 0;
  uint64_t end = 0;
};

class KnownStacks {
 public:
  // The record of the stack that is there now; none: it isn't known.
  StackId Find(StackExtent stack, std::span<const PythonFrame> python) const;

  // Makes an unwound stack known.
  void Add(StackExtent stack, std::span<const FramePlace> frames,
           std::span<const PythonFrame> python, StackId record);

 private:
  HandleMap<uint32_t> steps_;   // bytes from a return address to the next outer one; 0: none
  HandleMap<StackId> records_;  // by what the return addresses and Python's frames are
};

}  // namespace graphkit
