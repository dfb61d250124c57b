// Where a thread is in Python code, read out of CPython's own structures.
//
// Extensions give up the interpreter's lock around the work that they launch, so nothing of
// Python's may be called here. But the frames of the calling thread, and what they refer to, stay
// as they are while it is in a call: they are only read. Their layout is CPython's private matter
// and differs from version to version: with a version that isn't known there are no Python frames.
//
//     3.11, 3.12   by offsets from its headers
//     3.13         by the offsets that it publishes itself (_Py_DebugOffsets, at _PyRuntime)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace graphkit {

// Where things are in CPython's structures: offsets in bytes.
struct PythonLayout {
  size_t thread_frame = 0;  // in the thread's state: the innermost frame, or what leads to it
  bool indirect = false;    // the latter: a structure
  size_t loop_frame = 0;    // in that
  // in a frame
  size_t code = 0, previous = 0, instruction = 0;
  size_t entry = 0;  // a flag: the outermost of its loop; 0: `owner` says it
  size_t owner = 0;  // a frame of the loop's own lies outside of the outermost
  // in a code object
  size_t file = 0, name = 0, lines = 0, first_line = 0, units = 0;
  // in a string
  size_t ascii = 0, wide = 0;
  bool operator==(const PythonLayout&) const = default;
};

// Without initial values: every launch outside of captures has room for several.
struct PythonFrame {
  const PythonLayout* layout;
  const char* code;  // the code object
  uint32_t unit;     // the code unit that runs
  bool outermost;    // of those that one call of the interpreter's loop runs
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
  // The version of a CPython that isn't known; empty: there is none.
  const std::string& unknown() const { return unknown_; }

  // The frames of the calling thread, innermost first; returns how many.
  size_t Take(std::span<PythonFrame> out) const;
  // A frame that was taken, and is still there.
  static PythonPlace PlaceOf(const PythonFrame& frame);

 private:
  PythonLayout layout_;
  std::string unknown_;
  void* (*this_thread_)() = nullptr;  // PyGILState_GetThisThreadState
};

}  // namespace graphkit
