// Call stacks of the traced program: taken as return addresses, named once.
//
//     frames of a callback, innermost first          what is kept
//       tracer, libcupti, libcuda, libcudart    ──►  dropped
//       Attention(float*)   in ./app                 Attention(float*)
//       main                in ./app                 main
//       __libc_start_main   in libc                  dropped
//
// Where Python is known, what its interpreter calls within itself is left out, and each call of its
// loop (_PyEval_EvalFrameDefault) gives way to the Python functions that the loop runs:
//
//     launch(...)                     in ./extension.so        launch(...)   in ./extension.so
//     cfunction_vectorcall, …         in python3.11       ──►  forward       in model.py, line 7
//     _PyEval_EvalFrameDefault        in python3.11            <module>      in train.py, line 31
//     Py_BytesMain, main              in python3.11
//
// Taking a stack follows the unwind tables (.eh_frame), which compilers write for optimised code
// without frame pointers, too; it allocates nothing. Names come from the symbol tables of the files
// that are loaded: functions that were stripped away are known by their place in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/cupti_tracer/stacks/python_stack.h"

namespace graphkit {

inline constexpr int kMostFrames = 256;
// How many frames of CUDA's own may lie between the tracer and the program.
inline constexpr int kFramesAbove = 24;

// A frame of the calling thread: the address of its call of the next inner one, and how far the
// stack reached then.
struct FramePlace {
  uint64_t address = 0;
  uint64_t stack_top = 0;
};

// Unwinds the calling thread's stack, innermost frame first; returns how many frames there are.
size_t TakeFrames(std::span<FramePlace> out);

// A word of the thread's stack, of which an address sanitizer forbids those between variables.
__attribute__((no_sanitize("address"))) inline uint64_t WordAt(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

// Adds a word to a hash of words.
inline uint64_t Mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

// A stack as it is taken: its frames, and the Python functions that run. Too large for the small
// stacks that threads may have.
struct TakenStack {
  FramePlace places[kMostFrames + kFramesAbove];
  PythonFrame functions[kMostFrames];
  uint64_t words[3 * kMostFrames + kFramesAbove];
  size_t count = 0;
  size_t functions_count = 0;

  void TakePython(const Python& interpreter) { functions_count = interpreter.Take(functions); }
  // After TakePython.
  void TakeNative();
  std::span<const FramePlace> frames() const { return {places, count}; }
  std::span<const PythonFrame> python() const { return {functions, functions_count}; }
  // The addresses, and two words for each Python frame.
  std::span<const uint64_t> key() const { return {words, count + 2 * functions_count}; }
};

struct NamedFrame {
  std::string function;  // demangled; "0x1234" in the file where no symbol is known
  std::string file;      // the program or library; of Python its source
  uint32_t line = 0;     // 0: unknown
  uint64_t place = 0;    // in the file, where that knows its lines; 0: it doesn't
  bool operator==(const NamedFrame&) const = default;
};

// Reads symbol tables when it first sees a file. Not thread safe. Takes the loader's lock for a
// moment.
class StackNames {
 public:
  StackNames();
  ~StackNames();

  // The frames of a stack without CUDA's own and the tracer's at its inner end, as far as main, at
  // most `depth`.
  std::vector<NamedFrame> Name(std::span<const FramePlace> taken, size_t depth,
                               std::span<const PythonFrame> python = {});

  // The frames that are the program's, without CUDA's and the tracer's inside, as far as main.
  std::span<const FramePlace> OwnFrames(std::span<const FramePlace> frames);

  // How far the stack reached as the program called CUDA; 0: none of the frames is the program's.
  uint64_t TopOf(std::span<const FramePlace> frames);

 private:
  struct Module;
  Module* ModuleAt(uint64_t address);
  static NamedFrame NameOf(uint64_t address, Module* module);
  void ReadModules();

  std::vector<std::unique_ptr<Module>> modules_;
};

// Memory that PyTorch gets for a library's workspace looks like a tensor's: its memory history has
// Python frames only. Known by PyTorch's public functions that ask for it.
class WorkspaceCalls {
 public:
  // The innermost of these functions that calls; nothing: none does. Takes the loader's lock for a
  // moment.
  std::optional<NamedFrame> Find(std::span<const FramePlace> frames);

  // False: none of these functions calls. `words`: of the stack, with all return addresses of its
  // frames and some of frames that were there before.
  bool MayFind(std::span<const uint64_t> words);

 private:
  struct Function {
    uint64_t begin = 0;
    uint64_t end = 0;
    NamedFrame frame;
  };
  void Look();

  std::vector<Function> functions_;  // none before PyTorch is loaded
  uint64_t begin_ = 0;               // of the first in memory
  uint64_t end_ = 0;                 // of the last
};

}  // namespace graphkit
