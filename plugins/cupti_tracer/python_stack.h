// Where a thread is in Python code, read out of CPython's own structures.
//
// Extensions give up the interpreter's lock around the work that they launch, so nothing of
// Python's may be called here. But the frames of the calling thread, and what they refer to, stay
// as they are while it is in a call: they are only read. Their layout is CPython's private matter
// and differs from version to version: with a version that isn't known there are no Python frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace graphkit {

struct PythonFrame {
  const char* code = nullptr;  // the code object
  uint32_t unit = 0;           // the code unit that runs
  bool outermost = false;      // of those that one call of the interpreter's loop runs
};

struct PythonPlace {
  std::string function;  // qualified
  std::string file;
  uint32_t line = 0;  // 0: unknown
  bool operator==(const PythonPlace&) const = default;
};

class Python {
 public:
  // Looks for CPython in the process, once; takes the loader's lock.
  void Find();
  bool known() const { return this_thread_ != nullptr; }

  // The frames of the calling thread, innermost first; returns how many.
  size_t Take(std::span<PythonFrame> out) const;
  // A frame that was taken, and is still there.
  static PythonPlace PlaceOf(const PythonFrame& frame);

 private:
  void* (*this_thread_)() = nullptr;  // PyGILState_GetThisThreadState
};

}  // namespace graphkit
