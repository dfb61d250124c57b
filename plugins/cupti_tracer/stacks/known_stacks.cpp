#include "plugins/cupti_tracer/stacks/known_stacks.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr size_t kMostKnown = 1 << 16;

uint64_t WithPython(uint64_t key, std::span<const PythonFrame> python) {
  for (const PythonFrame& frame : python) {
    key = Mixed(key, reinterpret_cast<uint64_t>(frame.code));
    key = Mixed(key, uint64_t{frame.unit} << 1 | uint64_t{frame.outermost});
  }
  return key | 1;
}

// Where a frame's return address lies; 0: not where compilers put it. x86-64 pushes it above the
// called function's frame; aarch64's compilers store it there, or at the bottom of that frame.
uint64_t SlotOf(const FramePlace& frame, uint64_t called_top) {
  const auto holds = [&](uint64_t slot) { return WordAt(slot) == frame.address + 1; };
  if (holds(frame.stack_top - sizeof(uint64_t))) return frame.stack_top - sizeof(uint64_t);
#ifdef __aarch64__
  if (called_top != 0 && holds(called_top + sizeof(uint64_t))) return called_top + sizeof(uint64_t);
#else
  static_cast<void>(called_top);
#endif
  return 0;
}

}  // namespace

StackId KnownStacks::Find(StackExtent stack, std::span<const PythonFrame> python) const {
  uint64_t slot = stack.anchor + sizeof(uint64_t), key = 0;
  for (size_t left = kMostFrames; slot < stack.end;) {
    const uint64_t address = WordAt(slot);
    const uint32_t* step = steps_.Find(address);
    if (step == nullptr) return {};
    key = Mixed(key, address);
    if (*step == 0 || --left == 0) {
      const StackId* known = records_.Find(WithPython(key, python));
      return known != nullptr ? *known : StackId();
    }
    slot += *step;
  }
  return {};
}

void KnownStacks::Add(StackExtent stack, std::span<const FramePlace> frames,
                      std::span<const PythonFrame> python, StackId record) {
  if (stack.anchor + sizeof(uint64_t) >= stack.end) return;
  const uint64_t own = WordAt(stack.anchor + sizeof(uint64_t));
  const auto first = std::ranges::find_if(frames, [&](const FramePlace& frame) {
    return frame.stack_top > stack.anchor + sizeof(uint64_t) && frame.address + 1 == own;
  });
  frames = frames.subspan(static_cast<size_t>(first - frames.begin()));
  if (frames.empty()) return;
  if (records_.size() >= kMostKnown) *this = {};
  const bool whole = frames.size() < kMostFrames;
  if (!whole) frames = frames.first(kMostFrames);
  uint64_t slot = stack.anchor + sizeof(uint64_t), key = Mixed(0, own);
  for (size_t i = 1; i < frames.size(); ++i) {
    const uint64_t next = SlotOf(frames[i], frames[i - 1].stack_top);
    if (next <= slot || next >= stack.end) return;
    steps_.Insert(frames[i - 1].address + 1, static_cast<uint32_t>(next - slot));
    slot = next;
    key = Mixed(key, frames[i].address + 1);
  }
  if (whole) steps_.Insert(frames.back().address + 1, 0);
  records_.Insert(WithPython(key, python), record);
}

}  // namespace graphkit
